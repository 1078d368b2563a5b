import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { findBypassReason } from '../../../../src/cache/verify/bypass.ts'
import { fresh, lasting } from '../text/corpus/freshness.ts'

function reason(text: string) {
  return findBypassReason(normalizePrompt(text))
}

describe('detects questions about the present', () => {
  test.each(fresh.map(text => [text]))('%j needs a fresh answer', text => {
    expect(reason(text)).toBe('fresh')
  })

  test.each(lasting.map(text => [text]))('%j does not need one', text => {
    expect(reason(text)).toBeNull()
  })
})

describe('detects requests for actions', () => {
  test.each([
    'Cancel my dentist appointment.',
    'Transfer $200 to my savings.',
    'Please delete my account',
    'Could you book me a table for two?',
    'Turn off the lights',
    'Close my savings account.',
    'Increase my credit card limit to $10,000.',
  ])('%j requests an action', text => {
    expect(reason(text)).toBe('action')
  })

  test.each([
    'How do I cancel a booking?',
    'Can I cancel my booking?',
    'Delete a file in Linux',
    'What does "cancel my order" mean?',
  ])('%j does not', text => {
    expect(reason(text)).toBeNull()
  })
})
