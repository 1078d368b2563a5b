/** `generate_content` is Gemini's API. Its requests are translated to chat requests before the pipeline reads them. */
export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages' | 'generate_content'
