/** The variables of sign-in providers. Three may be set up, each under a prefix of its own. */
import { role, type Role } from '@hedgerow/contract'
import { z } from 'zod'
import { ConfigError, type ProviderSettings } from '../config.ts'

const PREFIXES = { first: 'HUB_OIDC', second: 'HUB_OIDC_SECOND', third: 'HUB_OIDC_THIRD' } as const

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an https:// address' })
  .refine((text) => {
    const { protocol, hostname } = new URL(text)
    return protocol === 'https:' || LOOPBACK.has(hostname)
  }, 'must be an https:// address')
  .refine((text) => !/[?#]/.test(text), 'must have no query')

const roles = z.string().transform((text, { addIssue }) =>
  text
    .split(';')
    .filter((entry) => entry.trim() !== '')
    .flatMap((entry) => {
      const [, group = '', name] = /^(.*)=([^=]*)$/.exec(entry.trim()) ?? []
      const parsed = role.safeParse(name?.trim())
      if (parsed.success && group.trim() !== '') return [{ group: group.trim(), role: parsed.data }]
      addIssue('must be groups with their roles, as in guards=manager; *=user')
      return []
    }),
)

const text = (max: number) => z.string().trim().min(1).max(max)
const FIELDS = {
  ISSUER: issuer.optional(),
  CLIENT_ID: text(500).optional(),
  CLIENT_SECRET: text(2_000).optional(),
  NAME: text(60).optional(),
  SCOPES: text(500).default('openid profile email'),
  GROUPS_CLAIM: text(200).default('groups'),
  ROLES: roles.optional(),
}

export const providerVariables = Object.fromEntries(
  Object.values(PREFIXES).flatMap((prefix) =>
    Object.entries(FIELDS).map(([name, schema]) => [`${prefix}_${name}`, schema]),
  ),
) as object

const found = z.object(FIELDS)

/** Throws a `ConfigError` for a provider that lacks something. */
export function readProviders(values: Readonly<Record<string, unknown>>, publicUrl: string | undefined) {
  return Object.entries(PREFIXES).flatMap(([id, prefix]): ProviderSettings[] => {
    const { ISSUER, CLIENT_ID, CLIENT_SECRET, NAME, ...rest } = Object.fromEntries(
      Object.keys(FIELDS).map((name) => [name, values[`${prefix}_${name}`]]),
    ) as z.output<typeof found>
    const given = [CLIENT_ID, CLIENT_SECRET, NAME, rest.ROLES].some((value) => value !== undefined)
    if (ISSUER === undefined) {
      if (given) throw new ConfigError([`${prefix}_ISSUER is not set, though other variables of that provider are`])
      return []
    }
    if (CLIENT_ID === undefined) throw new ConfigError([`${prefix}_CLIENT_ID is not set, though ${prefix}_ISSUER is`])
    if (publicUrl === undefined)
      throw new ConfigError([
        `HUB_PUBLIC_URL is not set, though ${prefix}_ISSUER is: a provider sends people back there`,
      ])
    return [
      {
        id,
        issuer: ISSUER,
        clientId: CLIENT_ID,
        clientSecret: CLIENT_SECRET,
        name: NAME ?? new URL(ISSUER).hostname,
        scopes: rest.SCOPES,
        groupsClaim: rest.GROUPS_CLAIM,
        roles: rest.ROLES ?? [],
      },
    ]
  })
}

/** The highest role of the person's groups; undefined when they give none. */
export function roleFor(
  { roles: given }: Pick<ProviderSettings, 'roles'>,
  groups: readonly string[],
): Role | undefined {
  const own = given.filter(({ group }) => group === '*' || groups.includes(group)).map((entry) => entry.role)
  return role.options.findLast((name) => own.includes(name))
}
