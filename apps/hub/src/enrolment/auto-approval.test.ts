import { BlockList, isIP } from 'node:net'
import { AUTO_APPROVAL_DEFAULTS, ipAddress, networkRange, type AutoApprovalSettings } from '@hedgerow/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from './auto-approval.ts'
import { canonicalIp, canonicalRange, createFindTrusted, isSameRange } from './trusted-sources.ts'

const settings = (change: Partial<AutoApprovalSettings> = {}): AutoApprovalSettings => ({
  ...AUTO_APPROVAL_DEFAULTS,
  ipWhitelist: ['203.0.113.9'],
  networkRanges: ['198.51.100.0/24', '2001:db8::/32'],
  ...change,
})

describe('the rules of auto-approval', () => {
  // enabled, requireAdminApproval, autoApproveWithInvitation, valid invitation, address listed -> approved by
  const table = [
    [false, false, true, true, true, 'off'],
    [false, true, true, true, false, 'off'],
    [true, true, true, true, false, 'invitation'],
    [true, true, true, true, true, 'invitation'],
    [true, true, false, true, false, 'none'],
    [true, true, true, false, true, 'approval-required'],
    [true, true, true, false, false, 'none'],
    [true, false, true, true, false, 'invitation'],
    [true, false, false, true, false, 'none'],
    [true, false, false, true, true, 'range'],
    [true, false, true, false, true, 'range'],
    [true, false, true, false, false, 'none'],
  ] as const

  it.each(table)(
    'enabled %s, person required %s, by invitation %s: an invitation %s from a listed address %s falls under "%s"',
    (enabled, requireAdminApproval, autoApproveWithInvitation, isInvited, listed, rule) => {
      const sourceIp = listed ? '198.51.100.7' : '192.0.2.1'
      const decision = decide(settings({ enabled, requireAdminApproval, autoApproveWithInvitation }), {
        sourceIp,
        isInvited,
      })
      expect([decision.rule, decision.approve]).toEqual([rule, ['invitation', 'range', 'address'].includes(rule)])
    },
  )

  it.each([
    ['198.51.100.7', '198.51.100.7 would be approved: it is in 198.51.100.0/24.'],
    ['203.0.113.9', '203.0.113.9 would be approved: it is in the IP whitelist.'],
    ['2001:db8::7', '2001:db8::7 would be approved: it is in 2001:db8::/32.'],
    ['192.0.2.1', '192.0.2.1 would wait for approval: it is in no listed address or range.'],
  ])('names the rule for %s', (sourceIp, message) => {
    const on = settings({ enabled: true, requireAdminApproval: false })
    expect(decide(on, { sourceIp, isInvited: false }).message).toBe(message)
  })

  it('approves nobody while it is off, whatever other settings say', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.boolean(), fc.ipV4(), (a, b, isInvited, sourceIp) => {
        const off = settings({ enabled: false, requireAdminApproval: a, autoApproveWithInvitation: b })
        expect(decide(off, { sourceIp, isInvited }).approve).toBe(false)
      }),
    )
  })

  it('approves by address exactly those in the list or a range', () => {
    const on = settings({ enabled: true, requireAdminApproval: false })
    const reference = new BlockList()
    reference.addAddress('203.0.113.9')
    reference.addSubnet('198.51.100.0', 24)
    const near = fc.oneof(
      fc.ipV4(),
      fc.nat(255).map((last) => `198.51.100.${last}`),
      fc.nat(255).map((last) => `198.51.101.${last}`),
      fc.nat(255).map((last) => `203.0.113.${last}`),
    )
    fc.assert(
      fc.property(near, fc.boolean(), (address, mapped) => {
        const sourceIp = mapped ? `::ffff:${address}` : address
        expect(decide(on, { sourceIp, isInvited: false }).approve).toBe(reference.check(address))
      }),
    )
  })
})

describe('an address', () => {
  const strange = [
    '010.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '10.1',
    '167772161',
    '10.0.0.1.',
    '10.0.0.256',
    '10.0.0.01',
    '１0.0.0.1',
    '10。0。0。1',
    '10.0.0.1/32',
    'fe80::1%eth0',
    '[::1]',
    '1::2::3',
    'localhost',
    '',
  ]
  it.each(strange)('%j is not an address', (text) => {
    expect(ipAddress.safeParse(text).success).toBe(false)
    expect(ipAddress.safeParse(text).error?.issues[0]?.message).toBe('Invalid IP address format')
    expect(createFindTrusted({ ipWhitelist: [text], networkRanges: [`${text}/8`] })('10.0.0.1')).toBeUndefined()
  })

  it('is the same in every spelling, mapped into IPv6 or not', () => {
    for (const spelling of ['198.51.100.7', '::ffff:198.51.100.7', '::FFFF:c633:6407', '0:0:0:0:0:ffff:198.51.100.7'])
      expect(canonicalIp(spelling)).toBe('198.51.100.7')
    expect(canonicalIp('2001:DB8:0:0::0001')).toBe('2001:db8::1')
  })

  it('is accepted by the contract exactly when the hub accepts it', () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.string(),
      fc.stringMatching(/^[0-9a-fx.:%]{1,20}$/),
    )
    fc.assert(
      fc.property(text, (sample) => {
        expect(ipAddress.safeParse(sample).success).toBe(isIP(sample.trim()) !== 0 && !sample.includes('%'))
        expect(isIP(canonicalIp(sample) ?? '') !== 0).toBe(isIP(sample) !== 0 && !sample.includes('%'))
      }),
    )
  })
})

describe('a range', () => {
  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0/8',
    '::/129',
    '/8',
    '10.0.0.0/8/8',
  ])('%j is not a range', (text) => {
    expect(networkRange.safeParse(text).error?.issues[0]?.message).toMatch(/^Invalid CIDR format \(e\.g\., .+\/16\)$/)
    expect(canonicalRange(text)).toBeUndefined()
  })

  it('is the same written from any of its addresses, mapped or not', () => {
    expect(isSameRange('10.1.2.3/16', '10.1.0.0/16')).toBe(true)
    expect(isSameRange('::ffff:10.1.0.0/112', '10.1.0.0/16')).toBe(true)
    expect(isSameRange('10.1.0.0/16', '10.1.0.0/17')).toBe(false)
    expect(isSameRange('10.1.0.0/16', '10.2.0.0/16')).toBe(false)
    expect(isSameRange('2001:db8::/32', '2001:db8:1::/32')).toBe(true)
  })

  it('of IPv6 holds no IPv4 address, not even ::/0', () => {
    const find = createFindTrusted({ ipWhitelist: [], networkRanges: ['::/0'] })
    expect(find('198.51.100.7')).toBeUndefined()
    expect(find('::ffff:198.51.100.7')).toBeUndefined()
    expect(find('2001:db8::1')).toEqual({ kind: 'range', entry: '::/0' })
  })

  it('of length 0 holds everything, of full length one address', () => {
    expect(createFindTrusted({ ipWhitelist: [], networkRanges: ['0.0.0.0/0'] })('203.0.113.1')).toBeDefined()
    const one = createFindTrusted({ ipWhitelist: [], networkRanges: ['203.0.113.1/32'] })
    expect([one('203.0.113.1') !== undefined, one('203.0.113.2') !== undefined]).toEqual([true, false])
  })
})
