/** Pictures of a drawing. */

const PROPERTIES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'opacity', 'paint-order'] as const;

/** An SVG file of a drawing: the computed styles are part of it. */
export function asSvg(svg: SVGSVGElement, box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }): Blob {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = svg.querySelectorAll<SVGElement>('*');
  for (const [i, element] of [...copy.querySelectorAll<SVGElement>('*')].entries()) {
    const original = originals[i];
    if (original === undefined) continue;
    const style = getComputedStyle(original);
    for (const name of PROPERTIES) if (style.getPropertyValue(name) !== '') element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ['tabindex', 'role', 'aria-pressed', 'class']) element.removeAttribute(name);
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', `${box.x} ${box.y} ${box.width} ${box.height}`);
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' });
}

/** A PNG file of a drawing, at twice its size as far as browsers allow. */
export async function asPng(svg: SVGSVGElement, box: Parameters<typeof asSvg>[1]): Promise<Blob> {
  const address = URL.createObjectURL(asSvg(svg, box));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(2, 8192 / Math.max(box.width, box.height));
    const canvas = new OffscreenCanvas(Math.ceil(box.width * scale), Math.ceil(box.height * scale));
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('the browser cannot draw');
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob({ type: 'image/png' });
  } finally {
    URL.revokeObjectURL(address);
  }
}
