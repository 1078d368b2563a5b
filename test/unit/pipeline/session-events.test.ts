import { expect, test } from 'vitest'
import { isBillingEvent } from '../../../src/pipeline/endpoints/realtime/session-events.ts'

test.each([
  '{"type":"response.done","response":{"usage":{}}}',
  '{"type":"anything","\\u0075sage":{}}',
  '{"\\u0074ype":"\\u0072esponse.done"}',
  '{"type":"session.updated"}',
])('reads %s', event => expect(isBillingEvent(event)).toBe(true))

test.each(['{"type":"response.audio.delta","delta":"of usage"}', '{"type":"x","text":"\\u4e2d\\n"}'])(
  'relays %s unread',
  event => expect(isBillingEvent(event)).toBe(false),
)
