import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createHub } from '../hub.ts'
import { readConfig } from '../read-config.ts'
import { createTestDatabase } from '#testing/databases.ts'

test('passwords, tokens, requested addresses and bodies stay out of the log', async () => {
  const { url, remove } = await createTestDatabase('sqlite')
  const config = readConfig({ HUB_DATABASE_URL: url, HUB_VPN_BACKEND: 'off', HUB_ADMIN_PASSWORD: 'hunter-two-hunter' })
  const lines: string[] = []
  const hub = await createHub({ config, log: pino({ level: 'debug' }, { write: (line) => void lines.push(line) }) })
  const payload = { username: 'admin', password: 'hunter-two-hunter' }
  const signedIn = await hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', payload })
  const { accessToken } = signedIn.json<{ accessToken: string }>()
  await hub.app.inject({
    url: '/api/v1/auth/validate?token=DT-0123456789AB',
    headers: { authorization: `Bearer ${accessToken}` },
  })
  await hub.app.inject({ url: '/api/v1/DT-0123456789AB' })
  await hub.stop()
  await remove()
  const log = lines.join('')
  expect(log).toContain('/api/v1/auth/login')
  for (const secret of ['hunter-two-hunter', accessToken, 'DT-0123456789AB']) expect(log).not.toContain(secret)
})
