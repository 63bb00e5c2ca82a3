import { expect, test } from 'vitest'
import { zoneLines } from './zone-lines.ts'

const FP = '3HKU UXRJ SVR7 6JLR TGBE OIIS WXIE K3OQ'

test.each([
  [
    'https://hub.example.org:8443',
    [`_hedgerow._tcp.example.org. SRV 10 60 8443 hub.example.org.`, `_hedgerow._tcp.example.org. TXT "fp=${FP}"`],
  ],
  [
    'http://hub.farm.lan:8080',
    [
      '_hedgerow._tcp.farm.lan. SRV 10 60 8080 hub.farm.lan.',
      '_hedgerow._tcp.farm.lan. TXT "scheme=http"',
      `_hedgerow._tcp.farm.lan. TXT "fp=${FP}"`,
    ],
  ],
  [
    'https://farm.example',
    ['_hedgerow._tcp.farm.example. SRV 10 60 443 farm.example.', `_hedgerow._tcp.farm.example. TXT "fp=${FP}"`],
  ],
])('for %s they are the lines of its zone', (hubUrl, lines) => {
  expect(zoneLines(hubUrl, FP)).toEqual({ lines, isExample: false })
})

test.each([
  ['http://198.51.100.7:8080', 'hub.example.net. A 198.51.100.7'],
  ['https://[2001:db8::7]', 'hub.example.net. AAAA 2001:db8::7'],
])('for the address %s they begin with an address line of an example zone', (hubUrl, first) => {
  const { lines, isExample } = zoneLines(hubUrl, FP)
  expect(isExample).toBe(true)
  expect(lines[0]).toBe(first)
  expect(lines[1]).toMatch(/^_hedgerow\._tcp\.example\.net\. SRV 10 60 (8080|443) hub\.example\.net\.$/)
})

test('for a name without a zone they are an example without an address', () => {
  expect(zoneLines('http://localhost:8080', FP).lines[0]).toBe(
    '_hedgerow._tcp.example.net. SRV 10 60 8080 hub.example.net.',
  )
})
