/**
 * Who may do what, and with which gateways: the only place that knows roles and owners. A new way to share a gateway is
 * a change here. `objects.ts` reads what a scope has, and `ownership.ts` changes owners.
 */
import { hasRole, type ApiToken, type Application, type FactKind, type Role } from '@hedgerow/contract'
import { sql, type RawBuilder } from 'kysely'
import { OWNED, type Owned } from './ownership.ts'

/**
 * What a call needs. `hub`: the hub as a whole; `guard` is what decides who gets in: accounts, and the settings and
 * channels by which they could be taken over; `admit` is what lets devices join without a person. `gateway`: the
 * gateways that the person sees, or the one that the call names; `operate` is what its owner may do. `self`: one's own
 * account; `session` also before a required two-factor sign-in is set up.
 */
export type Capability =
  | { hub: 'see' | 'manage' | 'admit' | 'admin' | 'guard' }
  | { gateway: 'see' | 'operate' | 'manage' }
  | { self: 'session' | 'account' }

/** What of a gateway tells whether a scope has it, for queries whose rows `has` judges. */
export const SCOPED = [OWNED] as const
export type Scoped = Owned

/** The facts that change who has a gateway. */
export const SCOPE_FACTS = ['gateway.claimed', 'gateway.deleted'] as const satisfies FactKind[]

/** A person, or a program with a token of theirs: then `role` is the lesser of both. */
export type Principal = { userId: string; role: Role; token?: Token }
export type Token = { name: string; access: ApiToken['access'] }

export type Scope = {
  /** The same for all who see the same gateways: what is read for one of them is true for the others. */
  key: string
  /** Whether it has every gateway. */
  isWhole: boolean
  /** Whether the person has this capability at all, for whichever gateways they see. */
  may(capability: Capability): boolean
  /** Whether the scope has this gateway. */
  has(row: Scoped): boolean
  /** The same as a condition of a query of this table. */
  condition(table: 'gateways' | 'registrations'): RawBuilder<boolean>
}

export function scopeOf({ userId, role, token }: Principal): Scope {
  const isWhole = hasRole(role, 'manager')
  /** A row is in the scope when each of these columns has this value. */
  const wanted: readonly (readonly [column: keyof Owned, value: string])[] = isWhole ? [] : [['owner_id', userId]]
  return {
    key: isWhole ? 'whole fleet' : userId,
    isWhole,
    may: (capability) => hasRole(role, leastRole(capability)) && (!token || mayToken(token, capability)),
    has: (row) => wanted.every(([column, value]) => row[column] === value),
    condition: (table) =>
      wanted.length === 0
        ? sql<boolean>`1 = 1`
        : sql<boolean>`${sql.join(
            wanted.map(([column, value]) => sql`${sql.ref(`${table}.${column}`)} = ${value}`),
            sql` and `,
          )}`,
  }
}

/**
 * Whether a token of enough rights has a capability. It never has its person's account, nor what guards the hub: one
 * that leaked must end when it is revoked. One that reads sees no keys of a gateway either.
 */
function mayToken({ access }: Token, capability: Capability): boolean {
  if ('self' in capability) return false
  if ('hub' in capability) return capability.hub !== 'guard' && capability.hub !== 'admit'
  return access === 'all' || capability.gateway === 'see'
}

/** The one of two roles that may do less. */
export const lesserRole = (a: Role, b: Role): Role => (hasRole(a, b) ? b : a)

/** The least role that has a capability for something. */
export function leastRole(capability: Capability): Role {
  if ('hub' in capability)
    return ({ see: 'user', manage: 'manager', admit: 'manager', admin: 'admin', guard: 'admin' } as const)[
      capability.hub
    ]
  return 'gateway' in capability && capability.gateway === 'manage' ? 'manager' : 'user'
}

/** Whether a person who sees the gateway may open its application; its device's file names the least role. */
export function mayOpen({ role }: Pick<Principal, 'role'>, { leastRole: least = 'user' }: Application): boolean {
  return hasRole(role, least)
}
