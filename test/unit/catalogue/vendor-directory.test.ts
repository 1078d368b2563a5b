import { describe, expect, test } from 'vitest'
import { updateVendors, type VendorDirectory } from '../../../src/catalogue/vendor-directory.ts'
import type { VendorSettings } from '../../../src/config/vendor-settings.ts'
import { VENDORS } from '../../../src/postgres/seeds.generated.ts'

const ADDRESS: VendorSettings = { baseUrl: 'http://10.0.0.7:11434/v1', key: null }
const accessTo = (vendors: VendorDirectory, name: string) => vendors.find(name)?.shared_access

describe('a server that needs no key', () => {
  test('is reachable at its usual address only where local defaults are served', () => {
    const settings = new Map()
    expect(accessTo(updateVendors(null, VENDORS, { settings }), 'ollama')).toBeUndefined()
    const vendors = updateVendors(null, VENDORS, { settings, servesLocalDefaults: true })
    expect(accessTo(vendors, 'ollama')).toBe('keyless')
    expect(accessTo(vendors, 'openai')).toBeUndefined()
  })

  test('is reachable once the operator has set its address or its row', () => {
    const set = updateVendors(null, VENDORS, { settings: new Map([['OLLAMA', ADDRESS]]) })
    expect(set.find('ollama')).toMatchObject({
      base_url: ADDRESS.baseUrl,
      shared_access: 'keyless',
      source: 'operator',
    })
    expect(accessTo(set, 'vllm')).toBeUndefined()
    const rows = VENDORS.map(row => (row.name === 'vllm' ? { ...row, source: 'operator' as const } : row))
    expect(accessTo(updateVendors(null, rows, { settings: new Map() }), 'vllm')).toBe('keyless')
  })

  test('has the key of a setting once it needs one', () => {
    const key = { value: 'sk-1' }
    const vendors = updateVendors(null, VENDORS, { settings: new Map([['VLLM', { baseUrl: null, key }]]) })
    expect(vendors.find('vllm')).toMatchObject({ shared_access: 'setting', key_location: null })
  })
})

test('an unchanged vendor is the same object in the next directory, and an unchanged directory is the same', () => {
  const installation = { settings: new Map() }
  const first = updateVendors(null, VENDORS, installation)
  expect(updateVendors(first, structuredClone([...VENDORS]), installation)).toBe(first)
  const changed = VENDORS.map(row => (row.name === 'groq' ? { ...row, title: 'Groq, Inc.' } : row))
  const second = updateVendors(first, changed, installation)
  expect(second).not.toBe(first)
  expect(second.find('openai')).toBe(first.find('openai'))
  expect(second.find('groq')).not.toBe(first.find('groq'))
})
