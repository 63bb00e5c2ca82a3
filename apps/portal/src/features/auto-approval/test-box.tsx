import { ipAddress } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { testFailed } from './messages.ts'
import { useTestAutoApproval } from './queries.ts'
import styles from './page.module.css'

/** Asks the hub for its decision about an address, by the saved rules. */
export function TestBox() {
  const test = useTestAutoApproval()
  const [ip, setIp] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wrong = ipAddress.safeParse(ip).error?.issues[0]?.message
    setProblem(wrong)
    if (wrong === undefined) test.mutate(ip.trim())
    else test.reset()
  }
  return (
    <form className={styles.test} onSubmit={submit} noValidate>
      <p>What would the saved rules do with a device that asks from this address without an invitation?</p>
      <div className={styles.add}>
        <TextInput
          aria-label="Test IP"
          placeholder="198.51.100.7"
          autoComplete="off"
          spellCheck={false}
          error={problem}
          value={ip}
          onChange={(event) => {
            setIp(event.currentTarget.value)
            setProblem(undefined)
          }}
        />
        <Button type="submit" variant="default" loading={test.isPending}>
          Test
        </Button>
      </div>
      {test.isError && <Notice tone="danger">{testFailed(messageOf(test.error))}</Notice>}
      {test.isSuccess && <Notice tone={test.data.wouldAutoApprove ? 'good' : 'plain'}>{test.data.message}</Notice>}
    </form>
  )
}
