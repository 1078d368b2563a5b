/** Written by `bun run generate-types` from rows of sql/seed. */

export const EVENT_KINDS = [
  {"kind":"api_key.created","happens":"a key is made","payload":["key_id","name","type","prefix","expires_at"]},
  {"kind":"api_key.deactivated","happens":"a key is deactivated","payload":["key_id","name","prefix"]},
  {"kind":"api_key.expiring","happens":"a key expires in a week, or a tenth of its shorter life is left","payload":["key_id","name","prefix","expires_at"]},
  {"kind":"budget.threshold","happens":"a [budget](budgets.md) is spent to 80 or 100 %, once a period each; or an alert’s amount, once a month: then without `budget_id`, with what stands last","payload":["percent","unit","used","limit","per","budget_id","spend_alert_id","notification_channel"]},
  {"kind":"cache.wrong_hit","happens":"somebody calls a semantic hit wrong","payload":["request_id","reason","similarity"]},
  {"kind":"circuit.opened","happens":"a provider keeps failing and is left alone: once in ten minutes","payload":["provider","wait_ms"]},
  {"kind":"quota.threshold","happens":"the month’s quota is used up to 80 or 100 %, once each","payload":["percent","requests","limit","key_type","month"]},
  {"kind":"webhook.test","happens":"somebody asks for it","payload":[]},
] as const

export const VENDORS = [
  {"name":"openai","title":"OpenAI","base_url":"https://api.openai.com/v1","format":"openai","endpoints":["chat","completions","embeddings","responses"],"passes":null,"keeps":["files","batches"],"headers":["idempotency-key","openai-beta","openai-organization","openai-project"],"model_names":"^(?:gpt-(?!oss)|chatgpt-|o\\d|ft:|codex-|computer-use-|text-|omni-|tts-|whisper-(?!large)|dall-e-|davinci-|babbage-)","prefixes_models":false,"makes_models":true,"client_agent":null,"place":1},
  {"name":"anthropic","title":"Anthropic","base_url":"https://api.anthropic.com","format":"anthropic","endpoints":["messages"],"passes":["/messages/batches","/files"],"keeps":["message_batches","anthropic_files"],"headers":["anthropic-beta","anthropic-version","anthropic-workspace-id","idempotency-key"],"model_names":"^claude-","prefixes_models":false,"makes_models":true,"client_agent":null,"place":2},
  {"name":"groq","title":"Groq","base_url":"https://api.groq.com/openai/v1","format":"openai","endpoints":["chat"],"passes":["/audio/","/files","/batches"],"keeps":["files","batches"],"headers":["groq-model-version","idempotency-key"],"model_names":"^(?:llama|gemma\\d?|mixtral|mistral-saba|qwen|deepseek-r1-distill|allam|compound|whisper-large|distil-whisper|playai)-","prefixes_models":true,"makes_models":false,"client_agent":"^(?:Async)?Groq/","place":3},
] as const
