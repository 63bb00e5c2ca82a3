/**
 * Issues the hub's certificates (RFC 5280): a CA of its own, and a TLS server certificate signed by it. Pure except for
 * keys and serial numbers. ECDSA on P-256, which every browser and TLS library supports.
 */
import { isIP } from 'node:net'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

/** Both as PEM, the private key as PKCS #8. */
export type KeyedCertificate = { certificate: string; privateKey: string }

const DAY_MS = 24 * 60 * 60 * 1_000
const CA_DAYS = 3_650
/** Browsers accept at most 398 days from public CAs, and 825 from private ones. */
const SERVER_DAYS = 397
/** Clients whose clocks are a little behind must accept a fresh certificate too. */
const BACKDATED_MS = DAY_MS
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const COMMON_NAME_LIMIT = 64

/**
 * A CA certificate. With `current`, a fresh one with the same name and key, so a client that trusts one trusts both.
 */
export async function issueAuthority(now: number, current?: KeyedCertificate): Promise<KeyedCertificate> {
  const x509 = await loadX509()
  const keys = current ? await importKeys(current.privateKey) : await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: current ? new x509.X509Certificate(current.certificate).subject : await authorityName(keys.publicKey),
    ...validity(now, CA_DAYS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: toPem(certificate), privateKey: current?.privateKey ?? (await exportKey(keys.privateKey)) }
}

/** A TLS server certificate with a new key for `names`, host names and IP addresses; the first is its common name. */
export async function issueServerCertificate(
  authority: KeyedCertificate,
  names: readonly string[],
  now: number,
): Promise<KeyedCertificate> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(authority.certificate)
  const { privateKey: signingKey } = await importKeys(authority.privateKey)
  const keys = await generateKeys()
  const { notBefore, notAfter } = validity(now, SERVER_DAYS)
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [(names[0] ?? 'localhost').slice(0, COMMON_NAME_LIMIT)] }],
    issuer: issuer.subject,
    notBefore,
    notAfter: notAfter < issuer.notAfter ? notAfter : issuer.notAfter,
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { certificate: toPem(certificate), privateKey: await exportKey(keys.privateKey) }
}

/** Loaded only to issue a certificate, about once a year: loading costs time and memory. */
async function loadX509() {
  // The library reads decorator metadata from the global `Reflect` while it loads.
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function validity(now: number, days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + days * DAY_MS) }
}

/** Two hubs' CAs in one trust store must have different names. */
async function authorityName(publicKey: CryptoKey): Promise<{ CN: string[] }[]> {
  const digest = await crypto.subtle.digest('SHA-256', await crypto.subtle.exportKey('spki', publicKey))
  return [{ CN: [`Hedgerow hub CA ${Buffer.from(digest).toString('hex').slice(0, 8)}`] }]
}

function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function importKeys(pem: string): Promise<CryptoKeyPair> {
  const jwk = (key: KeyObject) => key.export({ format: 'jwk' })
  const privateKey = createPrivateKey(pem)
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk(privateKey), ALGORITHM, true, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', jwk(createPublicKey(privateKey)), ALGORITHM, true, ['verify']),
  }
}

async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' })
}

function toPem(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem').trim()}\n`
}
