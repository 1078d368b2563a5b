import { describe, expect, test } from 'vitest'
import { classifyFinishReason, type FinishKind, isContentFilter } from '../../../../src/formats/chat/completeness.ts'

const REASONS: Record<FinishKind, string[]> = {
  regular: ['stop', 'STOP', 'tool_calls', 'function_call', 'end_turn', 'stop_sequence', 'tool_use', 'eos', 'EOS_TOKEN'],
  length: ['length', 'max_tokens', 'MAX_TOKENS', 'model_length', 'max_output_tokens', 'model_context_window_exceeded'],
  filtered: [
    'content_filter',
    'safety',
    'SAFETY',
    'sensitive',
    'refusal',
    'RECITATION',
    'PROHIBITED_CONTENT',
    'BLOCKLIST',
    'SPII',
    'IMAGE_SAFETY',
    'guardrail_intervened',
  ],
  failed: [
    'error',
    'abort',
    'network_error',
    'insufficient_system_resource',
    'OTHER',
    'FINISH_REASON_UNSPECIFIED',
    'MALFORMED_FUNCTION_CALL',
    'cancelled',
    'stopped_by_error',
    'a_reason_of_tomorrow',
    '',
    'constructor',
  ],
}

describe('reading a finish reason', () => {
  test.each(Object.entries(REASONS).flatMap(([ending, reasons]) => reasons.map(reason => [reason, ending] as const)))(
    'reads "%s" as %s',
    (reason, ending) => {
      expect(classifyFinishReason(reason)).toBe(ending)
    },
  )

  test('ignores letter case', () => {
    for (const [ending, reasons] of Object.entries(REASONS)) {
      for (const reason of reasons) expect(classifyFinishReason(reason.toUpperCase()), reason).toBe(ending)
    }
  })
})

describe('detecting a filter', () => {
  test('accepts the native reasons of filters, and no others', () => {
    for (const [ending, reasons] of Object.entries(REASONS)) {
      for (const reason of reasons) expect(isContentFilter(reason), reason).toBe(ending === 'filtered')
    }
  })
})
