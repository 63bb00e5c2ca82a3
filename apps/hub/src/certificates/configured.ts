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

/** The kind of key, where browsers do not take it. */
function refusedByBrowsers({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  if (type === 'rsa')
    return (details?.modulusLength ?? 0) < RSA_BITS ? `RSA with ${details?.modulusLength} bits` : undefined
  if (type === 'ec') return CURVES.includes(details?.namedCurve ?? '') ? undefined : `the curve ${details?.namedCurve}`
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
  if (last.checkIssued(last) || rootCertificates.some((root) => last.checkIssued(new X509Certificate(root))))
    return undefined
  const issuer = /^(?:CN|O)=(.+)$/m.exec(last.issuer.split('\n').reverse().join('\n'))?.[1] ?? last.issuer
  return `HUB_TLS_CERT_FILE ends before a CA that browsers know: add the certificate of “${issuer}”, unless every device has it`
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
