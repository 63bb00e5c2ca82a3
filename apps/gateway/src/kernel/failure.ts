/** Plain words for the error codes of networks, TLS and DNS. */
const SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'there is no network route to it',
  EADDRNOTAVAIL: 'this device has no address for that network',
  EACCES: 'the operating system does not allow it',
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name server does not answer',
  ENODATA: 'the name has no such record',
  ESERVFAIL: 'the name server failed',
  ETIMEOUT: 'the name server does not answer',
  EREFUSED: 'the name server refused the query',
  ECANCELLED: 'the query was cancelled',
  HPE_INVALID_CONSTANT: 'the server there does not speak HTTP',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown CA',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not valid yet (is this device's clock right?)",
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ENOENT: 'there is no such file',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EPERM: 'the operating system does not allow it',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EEXIST: 'something else has that name',
  EIO: 'the disk fails',
  EDQUOT: 'the disk space of this user is used up',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
}

/** An error in words, as part of a sentence; unknown codes keep their own message. */
export function inWords(error: unknown): string {
  const first = firstOf(error)
  return first instanceof Error ? (SENTENCES[codeOf(first) ?? ''] ?? first.message) : String(first)
}

/** The error's code; where several addresses were tried, the first error's. */
export function codeOf(error: unknown): string | undefined {
  const first = firstOf(error)
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : undefined
}

function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? firstOf(error.errors[0]) : error
}
