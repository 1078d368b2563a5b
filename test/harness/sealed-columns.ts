/**
 * Columns that contain prompts and responses. They are encrypted if a project has `seal_answers`. Tests compare them with the schema and
 * the documentation.
 */
export const SEALED_COLUMNS = [
  'cache_entries.response',
  'cache_prompts.prompt',
  'judge_queue.asked',
  'judge_queue.context',
  'stored_responses.input',
  'stored_responses.response',
  'stored_turns.extras',
]
