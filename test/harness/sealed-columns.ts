/** Where questions and answers lie, sealed where a project's `seal_answers` is on: a test finds them there, another in the documentation. */
export const SEALED_COLUMNS = [
  'cache_entries.response',
  'cache_prompts.prompt',
  'judge_queue.asked',
  'judge_queue.context',
  'stored_responses.input',
  'stored_responses.response',
]
