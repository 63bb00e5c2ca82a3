import { describe, expect, it } from 'vitest'
import { addEntry } from './entries.ts'
import { loadFailed, saveFailed, testFailed } from './messages.ts'

describe('the IP whitelist', () => {
  it('accepts an address and trims it', () => {
    expect(addEntry(['192.0.2.1'], ' 198.51.100.7 ', 'ip')).toEqual({ list: ['192.0.2.1', '198.51.100.7'] })
  })

  it.each(['256.1.1.1', '1.2.3', '010.0.0.1', '1.2.3.4.5', 'abc', '192.0.2.0/24'])('refuses %s', (text) => {
    expect(addEntry([], text, 'ip')).toEqual({ list: [], problem: 'Invalid IP address format' })
  })

  it('refuses an address that is in the list, in any case', () => {
    expect(addEntry(['192.0.2.1'], '192.0.2.1', 'ip').problem).toBe('IP already in whitelist')
    expect(addEntry(['2001:db8::a'], '2001:DB8::A', 'ip').problem).toBe('IP already in whitelist')
  })
})

describe('the network ranges', () => {
  it('accept an address, a slash and a prefix length', () => {
    expect(addEntry([], '198.51.100.0/24', 'range')).toEqual({ list: ['198.51.100.0/24'] })
    expect(addEntry([], '0.0.0.0/0', 'range').problem).toBeUndefined()
  })

  it.each(['198.51.100.0', '198.51.100.0/33', '198.51.100.0/-1', '300.0.0.0/8', '/16'])('refuse %s', (text) => {
    expect(addEntry([], text, 'range').problem).toMatch(/^Invalid CIDR format \(e\.g\., \d+\.\d+\.\d+\.\d+\/16\)$/)
  })

  it('refuse a range that is in the list', () => {
    expect(addEntry(['10.0.0.0/8'], '10.0.0.0/8', 'range').problem).toBe('Network range already exists')
  })
})

it('ignores blank entries', () => {
  expect(addEntry(['10.0.0.0/8'], '   ', 'range')).toEqual({ list: ['10.0.0.0/8'] })
})

it('has the exact messages', () => {
  expect(loadFailed('x')).toBe('Failed to load settings: x')
  expect(testFailed('x')).toBe('Failed to test IP: x')
  expect(saveFailed('x')).toBe('Failed to save settings: x')
})
