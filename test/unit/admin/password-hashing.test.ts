import { expect, test } from 'vitest'
import { isWeakPassword } from '../../../src/admin/password-hashing.ts'

const EMAIL = 'ada.lovelace@example.org'

test.each([
  'aaaaaaaaaaaa',
  'aB'.repeat(8),
  'abcabcabcabcabc',
  'kq7kq7kq7kq7kq7',
  'abcdefghijklmnop',
  '123456789012345',
  '987654321098',
  'qwertyuiopasdf',
  'Password1234',
  'passwordpassword',
  'ada.lovelace@example.org',
  'Ada.Lovelace@Example.org1',
  'example.orgexample.org',
  'ada.lovelace2026',
  '            ',
])('rejects “%s”', password => {
  expect(isWeakPassword(password, EMAIL)).toBe(true)
})

test.each([
  'correct horse battery staple',
  'a long enough password',
  'another long password',
  'kQ7!vT2#pL9z',
  '8f14e45fceea167a5a36dedd4bea2543',
  'Dreh dich um, Kater!',
  'ada likes green bicycles',
  '光合作用は植物の葉で起こる反応です',
])('accepts “%s”', password => {
  expect(isWeakPassword(password, EMAIL)).toBe(false)
})
