/** The operations that questions in words and programs with their own language model need. They are loaded with the code that calls them, not with every query. */

export { examplesOf, sameQuestionAs } from '../describe/examples.ts';
export { recordQuestion, storeQuestion } from '../describe/history.ts';
export { conversationMessages, reportQuestion } from './client-history.ts';
export { conversationOf } from './conversation.ts';
export { questionModel } from './question-model.ts';
export { sampleRows } from './sample.ts';
export { searchValues } from './search.ts';
