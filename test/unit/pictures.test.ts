/** The record of what the pictures in docs/dashboard show. */
import { expect, test } from 'vitest'
import { findOldPictures, hashPictures } from '../../scripts/picture-sources.ts'

test('a picture is old when its sources differ from the recorded ones, or when it was never taken', () => {
  expect(findOldPictures({ costs: 'a', keys: 'b' }, { costs: 'a', keys: 'c', alerts: 'd' })).toEqual(['keys', 'alerts'])
})

test('the hash of a picture covers its own page and not those of others', async () => {
  const { costs, vendors, again } = await hashPictures({ costs: 'costs', vendors: 'vendors', again: 'costs' })
  expect(again).toBe(costs)
  expect(vendors).not.toBe(costs)
})
