import type { ApiToken } from '@hedgerow/contract'

/** What a token may do. */
export const mayOf = ({ role, access }: Pick<ApiToken, 'role' | 'access'>): string =>
  `${access === 'read' ? 'Read' : 'Read and change'}, as ${role}`
