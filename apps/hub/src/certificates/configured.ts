import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates } from 'node:tls'
import { ConfigError } from '../config.ts'
import type { KeyedCertificate } from './issue.ts'

export type TlsFiles = { certFile: string; keyFile: string }

/** `doubt`: why clients may refuse the chain, though the hub can serve it. */
export type ConfiguredCertificate = KeyedCertificate & { doubt?: string }

/** What Chromium, Firefox and Safari all take of elliptic curves (RFC 5480 names; CA/Browser Forum BR 6.1.5). */
const CURVES = ['prime256v1', 'secp384r1']
/** Of those that issue; a server's own must also be good for the handshake. */
const ISSUER_CURVES = [...CURVES, 'secp521r1']
/** OpenSSL's names. */
const SIGNATURES = /^(sha(256|384|512)WithRSAEncryption|ecdsa-with-SHA(256|384|512))$/
/** In DER: RSA-PSS has its hash, SHA-1 unless named, among its parameters. */
const PSS_WITH_SHA2 = /06092a864886f70d01010a.{0,24}060960864801650304020[123]/
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const ANY_PURPOSE = '2.5.29.37.0'
const RSA_BITS = 2_048
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * The operator's own certificate with its chain, and its key. Throws a `ConfigError` that names the variable whose file
 * is missing, unreadable, does not match, or is refused by browsers.
 */
export function readConfigured({ certFile, keyFile }: TlsFiles): ConfiguredCertificate {
  const certificate = read('HUB_TLS_CERT_FILE', certFile)
  const privateKey = read('HUB_TLS_KEY_FILE', keyFile)
  const chain = parsed('HUB_TLS_CERT_FILE holds no certificate in PEM form', () => chainOf(certificate))
  const key = parsed('HUB_TLS_KEY_FILE holds no unencrypted private key in PEM form', () =>
    createPrivateKey(privateKey),
  )
  const own = chain.findIndex((one) => one.checkPrivateKey(key))
  if (own < 0) throw new ConfigError(['HUB_TLS_KEY_FILE is not the key of the certificate in HUB_TLS_CERT_FILE'])
  if (own > 0)
    throw new ConfigError([
      `HUB_TLS_CERT_FILE has the certificate of the key as number ${own + 1}: put it first, then those that issued it`,
    ])
  const refused = refusedByBrowsers(key)
  if (refused)
    throw new ConfigError([`HUB_TLS_KEY_FILE holds a key of ${refused}, which browsers refuse: use RSA or P-256`])
  parsed('HUB_TLS_CERT_FILE cannot be used for TLS', () => createSecureContext({ cert: certificate, key: privateKey }))
  const doubt = doubtOf(chain)
  return { certificate, privateKey, ...(doubt && { doubt }) }
}

/** Throws without any. */
function chainOf(pem: string): X509Certificate[] {
  const blocks = pem.match(BLOCK)
  return blocks ? blocks.map((block) => new X509Certificate(block)) : [new X509Certificate(pem)]
}

/** Why every browser refuses the chain, whichever CA it knows; undefined when it has no such reason. */
export function refusalOf({ certificate }: KeyedCertificate, now: number): string | undefined {
  const chain = chainOf(certificate)
  const own = chain[0]!
  const day = (date: Date) => date.toISOString().slice(0, 10)
  const purposes = own.keyUsage as string[] | undefined
  if (purposes && !purposes.includes(SERVER_AUTH)) return 'the certificate is not for servers (serverAuth)'
  if (own.subjectAltName === undefined) return 'the certificate names no host in its subjectAltName'
  for (const [index, one] of chain.entries()) {
    const which = index === 0 ? 'the certificate' : `certificate ${index + 1} of the chain`
    if (index > 0 && !chain[index - 1]!.checkIssued(one)) return undefined
    if (one.validToDate.getTime() < now) return `${which} expired on ${day(one.validToDate)}`
    if (one.validFromDate.getTime() > now) return `${which} is not valid before ${day(one.validFromDate)}`
    const key = index > 0 && refusedByBrowsers(one.publicKey, ISSUER_CURVES)
    if (key) return `${which} has a key of ${key}`
    const its = one.keyUsage as string[] | undefined
    if (index > 0 && !one.ca) return `${which} is of no CA`
    if (index > 0 && its && !its.includes(SERVER_AUTH) && !its.includes(ANY_PURPOSE))
      return `${which} may not issue for servers (serverAuth)`
    const isOwnSigner = one.checkIssued(one)
    // Nobody examines the signature of a CA on itself.
    if ((index === 0 || !isOwnSigner) && !isSignedWell(one))
      return `${which} is signed with ${one.signatureAlgorithm ?? one.signatureAlgorithmOid}`
    // What follows a CA that browsers know is for older clients, and may be expired.
    if (isOwnSigner || isOfKnownAuthority(one)) return undefined
  }
  return undefined
}

function isSignedWell({ signatureAlgorithm = '', raw }: X509Certificate): boolean {
  return SIGNATURES.test(signatureAlgorithm) || PSS_WITH_SHA2.test(raw.toString('hex'))
}

function isOfKnownAuthority(certificate: X509Certificate): boolean {
  return rootCertificates.some((root) => certificate.checkIssued(new X509Certificate(root)))
}

/** The kind of key, where browsers do not take it. */
function refusedByBrowsers(
  { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject,
  curves = CURVES,
): string | undefined {
  if (type === 'rsa')
    return (details?.modulusLength ?? 0) < RSA_BITS ? `RSA with ${details?.modulusLength} bits` : undefined
  if (type === 'ec') return curves.includes(details?.namedCurve ?? '') ? undefined : `the curve ${details?.namedCurve}`
  return type
}

/**
 * Why a client may not find its way from the first certificate to a CA that it knows. A CA of the operator's own is no
 * mistake, so this is a doubt and no error.
 */
function doubtOf(chain: readonly X509Certificate[]): string | undefined {
  const gap = chain.findIndex((one, index) => index > 0 && !chain[index - 1]!.checkIssued(one))
  if (gap > 0) return `certificate ${gap + 1} in HUB_TLS_CERT_FILE did not issue certificate ${gap}`
  const last = chain.at(-1)!
  if (last.checkIssued(last) || isOfKnownAuthority(last)) return undefined
  const issuer = /^(?:CN|O)=(.+)$/m.exec(last.issuer.split('\n').reverse().join('\n'))?.[1] ?? last.issuer
  return (
    `HUB_TLS_CERT_FILE ends before a CA that browsers know: add the certificate of “${issuer}”, unless every ` +
    'device has it'
  )
}

function read(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([`${variable} names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`])
  }
}

function parsed<T>(problem: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new ConfigError([problem])
  }
}
