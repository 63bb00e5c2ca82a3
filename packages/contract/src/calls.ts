/**
 * The registry: every call of the contract by its export name. The hub's routes, its policy, its OpenAPI description
 * and the portal's client derive from it.
 */
import type { Call } from './call.ts'
import * as contract from './index.ts'

type Contract = typeof contract

export type Calls = { [Name in keyof Contract as Contract[Name] extends Call ? Name : never]: Contract[Name] }

/** `METHOD path` of a call, its name in the policy and the audit. */
export type CallKey = { [Name in keyof Calls]: `${Calls[Name]['method']} ${Calls[Name]['path']}` }[keyof Calls]

function isCall(value: unknown): value is Call {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'response' in value
}

export const calls: Readonly<Record<string, Call>> = Object.fromEntries(
  Object.entries<unknown>(contract).flatMap(([name, value]) => (isCall(value) ? [[name, value]] : [])),
)

export function keyOf({ method, path }: Pick<Call, 'method' | 'path'>): string {
  return `${method} ${path}`
}
