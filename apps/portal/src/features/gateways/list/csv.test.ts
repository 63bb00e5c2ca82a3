import type { Gateway } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { gatewaysAsCsv } from './csv.ts'

const gateway = {
  id: 'aaaaaaaaaaaa',
  name: 'North "orchard"',
  status: 'online',
  statusReason: 'heartbeat 20 s ago, VPN handshake 40 s ago',
  site: { id: 'kkkkkkkkkkkk', name: 'Hill' },
  location: '=HYPERLINK("http://example.net")',
  description: 'Two lines\nof text',
  tags: ['north', 'orchard'],
  kind: 'enrolled',
  publicIp: null,
  vpnInternalIp: '10.100.0.2',
  version: '0.1.0',
  lastSeen: null,
  connectedUsers: 2,
  owner: null,
  createdAt: '2026-11-22T06:00:00.000Z',
  deviceToken: 'DT-0123456789AB',
} as Gateway

it('has a head, quoted values, and no secret', () => {
  const [head, line] = gatewaysAsCsv([gateway]).split('\r\n')
  expect(head).toMatch(/^\uFEFF"id","name","status",/)
  expect(line).toContain('"aaaaaaaaaaaa","North ""orchard""","online"')
  expect(line).toContain('"10.100.0.2","0.1.0","",2,""')
  expect(line).not.toContain('DT-')
  expect(gatewaysAsCsv([gateway])).toContain('"north orchard","enrolled"')
})

it('disarms what a spreadsheet would take as a formula', () => {
  expect(gatewaysAsCsv([gateway])).toContain(`"'=HYPERLINK(""http://example.net"")"`)
})
