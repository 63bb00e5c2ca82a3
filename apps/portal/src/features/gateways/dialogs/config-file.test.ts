import { expect, it } from 'vitest'
import { configFileName, hasPrivateKey } from './config-file.ts'

it.each([
  ['North Field', 'north-field.conf'],
  ['../../etc/passwd', 'etc-passwd.conf'],
  ['Grüner Weg 12, Scheune', 'gr-ner-weg-12-s.conf'],
  ['aaaaaaaaaaaaaa bbbb', 'aaaaaaaaaaaaaa.conf'],
  ['日本', 'hedgerow.conf'],
])('names the file of %s so that wg-quick takes it: %s', (name, file) => {
  expect(configFileName(name)).toBe(file)
})

it('tells a configuration with its private key from one without', () => {
  expect(hasPrivateKey(`[Interface]\nPrivateKey = ${'A'.repeat(43)}=\nAddress = 10.100.0.2/24\n`)).toBe(true)
  expect(hasPrivateKey('[Interface]\nPrivateKey = <kept on the gateway>\n')).toBe(false)
})
