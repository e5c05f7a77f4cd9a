/** The texts that only the pages of MCP Apps have. They take the others from the console. */
export const own = {
  refused: 'The program that shows this page does not answer it.',
  cut: 'Not everything: the answer was cut',
  firstBars: (n: number, all: number) => `The first ${n} of ${all.toLocaleString('en')} rows`,
  nearest: (n: number) => `The nearest ${n}`,
  showRows: 'Show the rows',
  meant: (reading: string) => `I mean: ${reading}`,
} as const;
