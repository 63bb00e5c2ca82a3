import { z } from 'zod'

export const modelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'A name has lower-case letters, digits and . _ -, at most 64 characters.')

export const sha256Text = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{64}$/, 'A SHA-256 has 64 hexadecimal digits.')
