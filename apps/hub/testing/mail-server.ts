import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

type Mail = {
  to: string[]
  from: string
  isEncrypted: boolean
  text: string
  header: (name: string) => string | undefined
}

type MailServerOptions = {
  /** It offers STARTTLS, and takes a password only after it. */
  certificate?: { cert: string; key: string }
  address?: string
}

/** A real mail server, with a sign-in where one is given; `refuse` makes it refuse every message. */
export async function startMailServer(
  signIn?: { username: string; password: string },
  { certificate, address = '127.0.0.1' }: MailServerOptions = {},
) {
  const mails: Mail[] = []
  const state = { refuse: false }
  const server = new SMTPServer({
    disabledCommands: [...(signIn ? [] : ['AUTH']), ...(certificate ? [] : ['STARTTLS'])],
    ...certificate,
    // Without a certificate the password goes over loopback.
    allowInsecureAuth: certificate === undefined,
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
          isEncrypted: session.secure,
          text: message.replaceAll('=\r\n', ''),
          header: (name) => new RegExp(`^${name}: (.*)$`, 'mi').exec(message)?.[1]?.trim(),
        })
        return undefined
      }
      take().then(answer, answer)
    },
  })
  // A client that refuses the certificate.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, address, () => resolve()))
  const host = `${address}:${(server.server.address() as AddressInfo).port}`
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { host, url: `smtp://${host}`, mails, state, stop }
}
