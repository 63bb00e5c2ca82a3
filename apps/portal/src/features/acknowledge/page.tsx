/**
 * Acknowledges an alert by the link of a message, without a session. Opening the page changes nothing: programs that
 * check mails or preview links open it too. The token is after the #, which browsers send to no server.
 */
import { Button, Loader } from '@mantine/core'
import { useCallback, useState } from 'react'
import { acknowledgeByLink, readAlertLink } from 'virtual:contract-calls'
import type { Acknowledgement, Language } from '@hedgerow/contract'
import { api, messageOf } from '#api/client.ts'
import { useHash } from '#api/use-hash.ts'
import { useLoaded } from '#api/use-loaded.ts'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { WORDS } from './words.ts'

export function AcknowledgePage() {
  const token = useHash().slice(1)
  return (
    <Entrance title="Acknowledge">{token === '' ? <WithoutLink /> : <Linked key={token} token={token} />}</Entrance>
  )
}

/** The hub could only refuse it. */
function WithoutLink() {
  return (
    <>
      <EntranceHead title="Acknowledge">This page opens from the link in a message about an alert.</EntranceHead>
      <p>Open the link again, or find the alert in the hub.</p>
      <ToTheHub language="en" />
    </>
  )
}

function Linked({ token }: { token: string }) {
  const load = useCallback((signal: AbortSignal) => api(readAlertLink, { body: { token }, signal }), [token])
  const { data, problem, isFinal, retry } = useLoaded(load)
  if (problem !== undefined)
    return (
      <>
        <EntranceHead title="Acknowledge">The alert could not be opened.</EntranceHead>
        <Notice tone="danger">{problem}</Notice>
        {isFinal !== true && (
          <Button variant="default" onClick={retry}>
            Try again
          </Button>
        )}
        <ToTheHub language="en" />
      </>
    )
  if (data === undefined)
    return (
      <output aria-label="Loading">
        <Loader size={24} />
      </output>
    )
  return (
    <section lang={data.language}>
      <EntranceHead title={WORDS[data.language].acknowledge}>{data.title}</EntranceHead>
      {data.lines.length > 1 && (
        <ul>
          {data.lines.map((line, index) => (
            <li key={index}>{line}</li>
          ))}
        </ul>
      )}
      <Answer token={token} before={data.acknowledged} language={data.language} />
      <ToTheHub language={data.language} />
    </section>
  )
}

function ToTheHub({ language }: { language: Language }) {
  return (
    <p>
      <a href="/login">{WORDS[language].open}</a>
    </p>
  )
}

type AnswerProps = { token: string; before: Acknowledgement | null; language: Language }

function Answer({ token, before, language }: AnswerProps) {
  const words = WORDS[language]
  const [done, setDone] = useState(before)
  const [isSending, setIsSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const send = async () => {
    setIsSending(true)
    setProblem(undefined)
    try {
      setDone((await api(acknowledgeByLink, { body: { token } })).acknowledged)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setIsSending(false)
  }
  if (done !== null) return <Notice tone="good">{words.done(done)}</Notice>
  return (
    <>
      <p>{words.consequence}</p>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <Button loading={isSending} onClick={() => void send()}>
        {words.acknowledge}
      </Button>
    </>
  )
}
