import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BOT, startMessengers, TOKEN, USER, type Taken } from '#testing/messengers.ts'
import { settingsOf, valuesOfVariables } from './channel-settings.ts'
import { channelTypes } from './channels.ts'
import type { Message } from './channel.ts'
import { anywhere } from './reach.ts'

let server: Awaited<ReturnType<typeof startMessengers>>
let taken: Taken[]
let url: string
beforeEach(async () => {
  server = await startMessengers()
  taken = server.state.taken
  url = server.url
})
afterEach(() => server.stop())

const picture = Buffer.from('/9j/AAAA', 'base64')
const message: Message = {
  id: 'incident.alert every-alert 1',
  serial: '1.2',
  event: 'incident.alert',
  at: '2026-05-01T10:00:00.000Z',
  title: 'Rehböcke at Barn',
  language: 'en',
  text: 'boar at Barn\nRule: Every alert',
  url: 'https://hub.example.net/threats?incident=x',
  data: {},
  acknowledge: {
    page: 'https://hub.example.net/acknowledge#token',
    call: 'https://hub.example.net/api/v1/alert-links/acknowledge',
    token: 'token',
  },
  picture,
}

/** Opens the channel from its environment, as the hub does, and sends. */
async function send(
  name: string,
  variables: Record<string, string>,
  messages: Message[] = [message],
): Promise<string | void> {
  const type = channelTypes.find((one) => one.name === name)!
  const parsed = Object.fromEntries(
    Object.values(type.fields).map(({ variable, schema }) => [variable, schema.optional().parse(variables[variable])]),
  )
  const channel = type.open(settingsOf(type, valuesOfVariables(type, parsed))!, {
    reach: () => anywhere,
    clock: Date.now,
    push: { send: () => Promise.reject(new Error('no browsers')) },
  })
  try {
    return await channel.send(messages, { email: '' })
  } finally {
    channel.close()
  }
}

describe('ntfy', () => {
  it('shows a label that looks encoded as it is', async () => {
    const title = '=?UTF-8?B?SGFja2Vk?= at Barn'
    await send('ntfy', { HUB_NTFY_URL: `${url}/my-topic`, HUB_NTFY_TOKEN: 'tk_secret' }, [
      { ...message, title, text: title },
    ])
    const shown = `=?UTF-8?B?${Buffer.from(title).toString('base64')}?=`
    expect(taken).toMatchObject([{ headers: { title: shown, message: shown } }])
  })

  it('gets the picture as the body, and words in headers that hold any letter', async () => {
    await send('ntfy', { HUB_NTFY_URL: `${url}/my-topic`, HUB_NTFY_TOKEN: 'tk_secret' })
    expect(taken).toMatchObject([
      {
        path: '/my-topic',
        headers: {
          title: `=?UTF-8?B?${Buffer.from(message.title).toString('base64')}?=`,
          message: expect.any(String),
          priority: '5',
          click: message.url,
          filename: 'picture.jpg',
        },
        body: picture,
      },
    ])
    const [acknowledge] = JSON.parse(String(taken[0]!.headers['actions'])) as Record<string, unknown>[]
    expect(acknowledge).toMatchObject({
      action: 'http',
      method: 'POST',
      url: message.acknowledge!.call,
      body: '{"token":"token"}',
    })
    const { picture: _none, ...words } = message
    await send('ntfy', { HUB_NTFY_URL: `${url}/my-topic`, HUB_NTFY_TOKEN: 'tk_secret' }, [words])
    expect(taken[1]!.body.toString()).toBe(message.text)
  })

  it('has its buttons in the language of the message', async () => {
    await send('ntfy', { HUB_NTFY_URL: `${url}/my-topic`, HUB_NTFY_TOKEN: 'tk_secret' }, [
      { ...message, language: 'de' },
    ])
    const actions = JSON.parse(String(taken[0]!.headers['actions'])) as { label: string }[]
    expect(actions.map(({ label }) => label)).toEqual(['Bestätigen', 'Im Browser bestätigen'])
  })

  const settings = () => ({ HUB_NTFY_URL: `${url}/my-topic`, HUB_NTFY_TOKEN: 'tk_secret' })

  it.each([
    ['off', 'ntfy answered 400: invalid request: attachments not allowed'],
    ['full', 'ntfy answered 413: attachment too large, or bandwidth limit reached'],
  ] as const)('without room for pictures (%s) gets the words, and the hub says so', async (state, answer) => {
    server.state.attachments = state
    expect(await send('ntfy', settings())).toBe(`The ntfy server took it without the picture: ${answer}`)
    expect(taken).toHaveLength(1)
    expect(taken[0]!.body.toString()).toBe(message.text)
    expect(taken[0]!.headers).toMatchObject({ priority: '5', click: message.url, actions: expect.any(String) })
    expect(taken[0]!.headers).not.toHaveProperty('filename')
  })

  it('gets a text of any length as a text', async () => {
    server.state.attachments = 'off'
    const { picture: _none, ...words } = message
    await send('ntfy', settings(), [{ ...words, text: 'Rehböcke '.repeat(1_000) }])
    expect(taken[0]!.body.length).toBeGreaterThan(3_900)
    expect(taken[0]!.body.toString()).not.toContain('\uFFFD')
  })

  it('that refuses a message is quoted', async () => {
    await expect(send('ntfy', { HUB_NTFY_URL: `${url}/my-topic` })).rejects.toThrow('ntfy answered 403: forbidden')
  })
})

describe('Telegram', () => {
  const settings = { HUB_TELEGRAM_TOKEN: BOT, HUB_TELEGRAM_CHAT: '-100200300' }

  it('gets the picture with its caption, as a form', async () => {
    await send('telegram', { ...settings, HUB_TELEGRAM_URL: url })
    expect(taken).toMatchObject([{ path: `/bot${BOT}/sendPhoto` }])
    const form = await new Response(new Uint8Array(taken[0]!.body), {
      headers: { 'content-type': taken[0]!.headers['content-type']! },
    }).formData()
    expect(form.get('caption')).toContain(message.title)
    expect(form.get('caption')).toContain(message.url)
    expect(JSON.parse(String(form.get('reply_markup')))).toEqual({
      inline_keyboard: [[{ text: 'Acknowledge', url: message.acknowledge!.page }]],
    })
    expect(Buffer.from(await (form.get('photo') as File).arrayBuffer())).toEqual(picture)
  })

  it('has its button and the link of the text in the language of the message', async () => {
    const { picture: _none, ...words } = message
    await send('telegram', { ...settings, HUB_TELEGRAM_URL: url }, [{ ...words, language: 'de' }])
    const body = JSON.parse(taken[0]!.body.toString()) as {
      text: string
      reply_markup: { inline_keyboard: object[][] }
    }
    expect(body.text).toContain(`\nBestätigen: ${message.acknowledge!.page}`)
    expect(body.reply_markup.inline_keyboard).toMatchObject([[{ text: 'Bestätigen' }]])
  })

  it('that refuses a message is quoted, without the token', async () => {
    const wrong = send('telegram', { ...settings, HUB_TELEGRAM_CHAT: '@nobody', HUB_TELEGRAM_URL: url })
    await expect(wrong).rejects.toThrow('Telegram answered 400: Bad Request: chat not found')
    const token = { ...settings, HUB_TELEGRAM_TOKEN: '1:wrong-token-here', HUB_TELEGRAM_URL: url }
    await expect(send('telegram', token)).rejects.toThrow(/^Telegram answered 401: Unauthorized$/)
    const away = { ...settings, HUB_TELEGRAM_URL: 'http://127.0.0.1:9' }
    await expect(send('telegram', away)).rejects.toThrow(/^Telegram could not be reached: ECONNREFUSED$/)
  })
})

describe('Pushover', () => {
  const settings = { HUB_PUSHOVER_TOKEN: TOKEN, HUB_PUSHOVER_USER: USER }

  it('gets the picture in base64, and is an emergency when that is on', async () => {
    await send('pushover', { ...settings, HUB_PUSHOVER_URL: url, HUB_PUSHOVER_EMERGENCY: 'on' })
    expect(JSON.parse(taken[0]!.body.toString())).toMatchObject({
      title: message.title,
      attachment_base64: picture.toString('base64'),
      priority: 2,
      retry: 60,
      expire: 3_600,
      url: message.url,
    })
    await send('pushover', { ...settings, HUB_PUSHOVER_URL: url }, [{ ...message, language: 'de' }])
    expect(JSON.parse(taken[1]!.body.toString())).toMatchObject({
      message: `${message.text}\nBestätigen: ${message.acknowledge!.page}`,
      url_title: 'Im Hub öffnen',
    })
  })

  it('that refuses a message is quoted', async () => {
    const wrong = { ...settings, HUB_PUSHOVER_TOKEN: 'x'.repeat(30), HUB_PUSHOVER_URL: url }
    await expect(send('pushover', wrong)).rejects.toThrow('Pushover answered 400: application token is invalid')
  })
})
