import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

type Mail = { to: string[]; from: string; text: string; header: (name: string) => string | undefined }

/** A real mail server on loopback, with a sign-in where one is given; `refuse` makes it refuse every message. */
export async function startMailServer(signIn?: { username: string; password: string }) {
  const mails: Mail[] = []
  const state = { refuse: false }
  const server = new SMTPServer({
    disabledCommands: [...(signIn ? [] : ['AUTH']), 'STARTTLS'],
    // It has no certificate: the password goes over loopback.
    allowInsecureAuth: true,
    logger: false,
    onAuth({ username, password }, _session, answer) {
      const isRight = username === signIn?.username && password === signIn?.password
      answer(isRight ? null : new Error('wrong username or password'), { user: username })
    },
    onData(stream, session, answer) {
      const take = async (): Promise<Error | undefined> => {
        const message = await text(stream)
        if (state.refuse) return new Error('the mailbox is full')
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          text: message.replaceAll('=\r\n', ''),
          header: (name) => new RegExp(`^${name}: (.*)$`, 'mi').exec(message)?.[1]?.trim(),
        })
        return undefined
      }
      take().then(answer, answer)
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const host = `127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { host, url: `smtp://${host}`, mails, state, stop }
}
