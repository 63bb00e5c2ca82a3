import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeApi, describedCalls } from './openapi.ts'
import { policy } from '../access/policy.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

type Document = {
  openapi: string
  paths: Record<
    string,
    Record<string, { operationId: string; security: unknown[]; responses: Record<string, unknown> }>
  >
}

describe('the description of the API', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
  })
  afterAll(() => hub.stop())

  test('is the reviewed one: after a change of the contract, run npm run api-snapshot', () => {
    const snapshot = readFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), 'utf8')
    expect(describeApi()).toEqual(JSON.parse(snapshot))
  })

  test('has every call of the policy, with an answer, and a session where one is needed', async () => {
    const document = (await hub.app.inject({ url: '/api/openapi.json' })).json<Document>()
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation })),
    )
    expect(operations.map(({ key }) => key).toSorted()).toEqual(
      Object.keys(policy)
        .map((key) => key.replaceAll(/:(\w+)/g, '{$1}'))
        .toSorted(),
    )
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    const refused = operations.map(({ key, operation }) => [
      key,
      Object.keys(operation.responses).some((status) => status.startsWith('4')),
    ])
    expect(refused).toEqual(operations.map(({ key }) => [key, true]))
    const open = operations.filter(({ operation }) => operation.security.length === 0).map(({ key }) => key)
    expect(open).toEqual([
      'POST /v1/alert-links/acknowledge',
      'GET /v1/alert-links/picture',
      'POST /v1/alert-links/read',
      'POST /v1/auth/login',
      'POST /v1/auth/login/two-factor',
      'POST /v1/auth/password-reset',
      'POST /v1/auth/password-reset/complete',
      'GET /v1/auth/providers',
      'POST /v1/auth/providers/{provider}/back-channel-logout',
      'POST /v1/auth/providers/{provider}/begin',
      'POST /v1/auth/providers/{provider}/complete',
      'POST /v1/auth/register',
      'GET /v1/auth/registration-info',
      'POST /v1/gateway/register/challenge',
      'GET /v1/hub/clips/{link}',
    ])
  })

  test('is a page for people without outside files or scripts', async () => {
    const page = await hub.app.inject({ url: '/api/docs' })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect(page.body).not.toMatch(/<script|style=|(src|href)="[^/#]/)
    for (const { name } of describedCalls()) expect(page.body).toContain(`id="${name}"`)
    expect((await hub.app.inject({ url: '/api/docs.css' })).headers['content-type']).toBe('text/css; charset=utf-8')
  })
})
