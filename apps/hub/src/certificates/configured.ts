import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from '../config.ts'
import type { KeyedCertificate } from './issue.ts'

export type TlsFiles = { certFile: string; keyFile: string }

/**
 * The operator's own certificate with its chain, and its key. Throws a `ConfigError` that names the variable whose file
 * is missing, unreadable or does not match.
 */
export function readConfigured({ certFile, keyFile }: TlsFiles): KeyedCertificate {
  const certificate = read('HUB_TLS_CERT_FILE', certFile)
  const privateKey = read('HUB_TLS_KEY_FILE', keyFile)
  const leaf = parsed('HUB_TLS_CERT_FILE holds no certificate in PEM form', () => new X509Certificate(certificate))
  const key = parsed('HUB_TLS_KEY_FILE holds no unencrypted private key in PEM form', () =>
    createPrivateKey(privateKey),
  )
  if (!leaf.checkPrivateKey(key))
    throw new ConfigError(['HUB_TLS_KEY_FILE is not the key of the certificate in HUB_TLS_CERT_FILE'])
  parsed('HUB_TLS_CERT_FILE cannot be used for TLS', () => createSecureContext({ cert: certificate, key: privateKey }))
  return { certificate, privateKey }
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
