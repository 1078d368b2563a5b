/** `generate_content` is Gemini's API. Its requests are translated to chat requests before the pipeline reads them. */
export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages' | 'generate_content'

/** An endpoint whose requests can be translated to chat requests. */
export type TranslatableEndpoint = Extract<Endpoint, 'responses' | 'messages' | 'generate_content'>
