import { readFile } from 'node:fs/promises'
import type { SrvRecord } from 'node:dns'
import { nearest } from '../kernel/nearest.ts'
import { inWords } from '../kernel/failure.ts'
import { parseFingerprint } from './hub-trust.ts'
import type { NameService } from '../kernel/name-service.ts'
import { orderTargets } from './srv-order.ts'

/**
 * Finds candidates for the hub: the given address, else the SRV records of the given domain and of this device's search
 * domains. The candidate's key decides whether it is the right hub (`hub-trust.ts`).
 */
export type HubCandidate = {
  /** The hub's origin. */
  url: URL
  /** Fingerprints from the domain's TXT records; one of them has to be the hub's. Empty: no pin. */
  pins: string[]
  /** The domain whose records name it; undefined for a given address. */
  domain: string | undefined
  /** Where this candidate comes from, for people. */
  source: string
}

export type DiscoveryOptions = {
  /** The configured address; no DNS query when it is set. */
  hubUrl: URL | undefined
  hubDomain: string | undefined
  searchDomains: readonly string[]
}

const SERVICE = '_hedgerow._tcp'

/** Candidates in the order to try them, and one sentence for each domain without any. */
export async function findHubs(
  options: DiscoveryOptions,
  names: NameService,
  random: () => number = Math.random,
): Promise<{ candidates: HubCandidate[]; problems: string[] }> {
  if (options.hubUrl)
    return { candidates: [{ url: options.hubUrl, pins: [], domain: undefined, source: 'its address' }], problems: [] }
  const domains = [...new Set([options.hubDomain, ...options.searchDomains].filter((domain) => domain !== undefined))]
  const candidates: HubCandidate[] = []
  const problems: string[] = []
  if (domains.length === 0)
    problems.push(
      'no hub address was given (--hub or GATEWAY_HUB_URL) and this device has no domain to look for one in',
    )
  for (const domain of domains) {
    try {
      candidates.push(...(await findInDomain(domain, names, random)))
    } catch (error) {
      problems.push(
        `DNS SRV ${SERVICE}.${domain}: ` +
          (isAbsent(error) ? `there is no such record: add the zone line ${srvLine(domain)}` : inWords(error)),
      )
    }
  }
  return { candidates, problems }
}

/** The zone file line for a hub's own HTTPS port. */
const srvLine = (domain: string) => `${SERVICE}.${domain}. SRV 10 60 8443 HUB-NAME.`

/** The zone file line of a TXT record with one hint. */
export const txtLine = (domain: string, hint: string) => `${SERVICE}.${domain}. TXT "${hint}"`

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
}

async function findInDomain(domain: string, names: NameService, random: () => number): Promise<HubCandidate[]> {
  const name = `${SERVICE}.${domain}`
  const [records, texts] = await Promise.all([names.srv(name), names.txt(name)])
  const { scheme, pins } = readHints(texts)
  const targets = records.filter((record) => record.name !== '.' && record.name !== '')
  // RFC 2782: a target of "." means that the domain does not offer the service.
  if (targets.length === 0) throw new Error('the domain says that it has no hub')
  return orderTargets<SrvRecord>(targets, random).map((record) => ({
    url: new URL(`${scheme}://${record.name.replace(/\.$/, '')}:${record.port}`),
    pins,
    domain,
    source: `DNS SRV ${name}`,
  }))
}

/** Keys that mean `fp` and are not: `fp1`, `fingerprint`, `pin`. */
const NEAR_FP = /^(?:fp|.*finger|.*pin\b)/

/** Keys that mean `scheme` and are not: `schema`, `skeme`, `scheme:http`. */
function isNearScheme(key: string): boolean {
  const [word = ''] = /^\p{L}*/u.exec(key) ?? []
  return word === 'scheme' || nearest(word, ['scheme']) !== undefined
}

/** A pin that is written somewhere in a text: `v=1; fp=…`, `key="3HKU …"`. */
const PIN_WITHIN = /\bfp\s*[=:]|(?:[a-z2-7]{4}[^a-z0-9]{0,3}){8}/i

/** Forms of DNS providers keep the quotes that people copy with a record. */
const QUOTES = /^[\s\\`\p{Quotation_Mark}]+|(?<![\s\\`\p{Quotation_Mark}])[\s\\`\p{Quotation_Mark}]+$/gu

/**
 * Each character string of the TXT records is one `key=value`. Keys have no case (RFC 6763 §6.4); unknown ones are
 * skipped, but not a text that seems to have an `fp` or a `scheme`: without its pin a hub would be trusted unseen.
 */
export function readHints(texts: readonly string[]): { scheme: 'http' | 'https'; pins: string[] } {
  let scheme: 'http' | 'https' = 'https'
  const pins: string[] = []
  for (const text of texts) {
    const [written = '', given = ''] = text.split(/=(.*)/s)
    const key = unquoted(written).toLowerCase()
    const value = unquoted(given)
    const refusal = `its TXT record has ${JSON.stringify(text.slice(0, 80))}`
    if (key === 'scheme') {
      if (value !== 'http' && value !== 'https') throw new Error(`${refusal}, a scheme other than http or https`)
      scheme = value
    } else if (key === 'fp') {
      const pin = parseFingerprint(value)
      // Ignoring an unreadable pin would drop the check.
      if (!pin) throw new Error(`${refusal}, an fp= that is not a fingerprint`)
      pins.push(pin)
    } else if (NEAR_FP.test(key) || isNearScheme(key) || PIN_WITHIN.test(text.normalize('NFKC'))) {
      throw new Error(`${refusal}, which is neither fp=… nor scheme=…`)
    }
  }
  return { scheme, pins }
}

function unquoted(text: string): string {
  return text.normalize('NFKC').replaceAll(QUOTES, '')
}

/** The `search` and `domain` lines of resolv.conf(5): the last line counts. Empty when there is no such file. */
export async function readSearchDomains(path = '/etc/resolv.conf'): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  let domains: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...rest] = line.trim().split(/\s+/)
    if (keyword === 'search' || keyword === 'domain') domains = rest.map((domain) => domain.replace(/\.$/, ''))
  }
  return domains.filter((domain) => domain !== '')
}
