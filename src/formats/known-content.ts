/**
 * Lists what a request may contain without costing more than its text and the factors that `cost-factors.ts` reads. Anything that is not
 * listed may cost as much as the model can read and write, or has no known price.
 */

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Top-level fields of requests for text, of any endpoint. `cost-factors.ts` reads those that affect the cost. */
export const KNOWN_REQUEST_FIELDS = words(`
  model stream stream_options temperature top_p top_k top_a min_p frequency_penalty presence_penalty repetition_penalty seed stop
  stop_sequences logit_bias logprobs top_logprobs echo user metadata safety_identifier client_metadata store background include
  response_format output_format output_config text verbosity structured_outputs dimensions encoding_format truncation transforms
  function_call tool_choice parallel_tool_calls reasoning reasoning_effort include_reasoning thinking moderation betas
  cache_control prompt_cache_key prompt_cache_options prompt_cache_retention access_programs billing_policy diagnostics
  fallback_credit_token user_profile_id workspace_id usage route session_id trace
  max_tokens max_completion_tokens max_output_tokens max_tool_calls n best_of prediction service_tier speed inference_geo tools
  modalities audio web_search_options mcp_servers context_management compaction models fallbacks plugins provider preset multi_agent`)

/** Fields that the model reads. */
export const CONTENT_FIELDS = words('messages system functions prompt suffix input instructions tools')

/** Fields that refer to state stored at a provider. */
export const PROVIDER_STATE_FIELDS = words('conversation previous_response_id container thread')

/** Fields of requests for images. The catalogue's prices cover no others. */
export const IMAGE_REQUEST_FIELDS = words(`
  model prompt image images mask markup n size quality style background moderation input_fidelity partial_images frame_count
  frame_duration_ms output_format output_compression response_format stream user safety_identifier`)
/** The values of image fields that the catalogue's prices cover. Fields that are not listed may have any value. */
export const KNOWN_IMAGE_VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  quality: words('low medium high auto standard hd'),
  output_format: words('png jpeg webp gif'),
}

/** Fields of messages, items, parts and tools that contain text or a name, or set an option. */
export const TEXT_FIELDS = words(`
  role content text name type id index status phase refusal summary thinking signature data encrypted_content reasoning
  reasoning_content reasoning_details thinking_blocks tool_calls function function_call custom call_id tool_call_id tool_use_id
  is_error caller input output title clear_at output_config effort cache_control ttl scope prompt_cache_breakpoint tools description
  strict format definition syntax namespace defer_loading eager_input_streaming allowed_callers tool_id extra_content google
  thought_signature`)
/** Fields with names that the client chose, or with previous output. A model reads no more than their text. */
export const OPAQUE_FIELDS = words(
  `parameters schema input_schema input_examples output_schema arguments metadata client_metadata trace annotations citations logprobs
  results`,
)
/** Types of messages, items and parts that are text. */
export const TEXT_TYPES = words(`
  text input_text output_text refusal message content function custom namespace function_call function_call_output custom_tool_call
  custom_tool_call_output reasoning reasoning_text summary_text thinking redacted_thinking tool_use tool_result ephemeral grammar
  direct additional_tools local_shell_call_output apply_patch_call_output reasoning.text reasoning.summary reasoning.encrypted`)
/** Types of items and parts that may have more tokens than bytes, but no more than the model's context length. */
export const LARGE_CONTENT_TYPES = words(`
  image image_url input_image document file input_file input_audio audio video_url item_reference compaction container_upload
  search_result tool_reference computer_call computer_call_output web_search_call file_search_call code_interpreter_call
  image_generation_call mcp_call mcp_list_tools mcp_approval_request mcp_approval_response local_shell_call shell_call
  apply_patch_call server_tool_use mcp_tool_use mcp_tool_result web_search_tool_result web_fetch_tool_result
  code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result`)
export const IMAGE_TYPES = words('image image_url input_image')
export const FILE_TYPES = words('document file input_file')
export const AUDIO_TYPES = words('input_audio audio')

/** OpenRouter's PDF engines without a separate price. If a request names no engine, OpenRouter may use one that is charged by the page. */
export const FREE_PDF_ENGINES = words('native pdf-text cloudflare-ai')

/** How a tool is charged. `tokens`: by the tokens that the model reads and writes. `pictures` and `advice`: by the work of another model. */
export type ToolPricing = 'tokens' | 'search' | 'file_search' | 'container' | 'pictures' | 'advice'

/** Tool types by pricing, without the date of their version. Any other tool has no known price. */
const TOOLS: Record<ToolPricing, ReadonlySet<string>> = {
  search: words('web_search web_search_preview'),
  file_search: words('file_search'),
  container: words('code_interpreter shell'),
  pictures: words('image_generation'),
  advice: words('advisor'),
  // Anthropic's containers are free for 1,550 hours a month, and no response reports them.
  tokens: words(`
    function custom namespace apply_patch local_shell mcp mcp_toolset tool_search tool_search_tool_bm25 tool_search_tool_regex
    computer computer_use_preview computer_toolset browser_toolset programmatic_tool_calling bash text_editor memory web_fetch
    code_execution`),
}
const VERSION_DATE = /_20\d\d_?\d\d_?\d\d$/

/** Returns null for a tool without a known price. */
export function resolveToolPricing(type: unknown): ToolPricing | null {
  const family = typeof type === 'string' ? type.replace(VERSION_DATE, '') : ''
  return (Object.keys(TOOLS) as ToolPricing[]).find(price => TOOLS[price].has(family)) ?? null
}

/** Context edits that need no model call, without the date of their version. Any other edit may make the model write a summary. */
const FREE_EDITS = words('clear_tool_uses clear_thinking')

export function isFreeContextEdit(type: unknown): boolean {
  return typeof type === 'string' && FREE_EDITS.has(type.replace(VERSION_DATE, ''))
}
