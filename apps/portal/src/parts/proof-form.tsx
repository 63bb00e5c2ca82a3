import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ApiError } from '#api/client.ts'
import type { Failure } from '#api/failure.ts'
import { FailureNotice } from '@hedgerow/ui/failure-notice.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'

type Field = {
  value: string
  error: string | undefined
  onChange: (event: { currentTarget: { value: string } }) => void
}

type ProofFormProps = {
  /** The error beside an empty field. */
  empty: string
  /** The code of the refusal that is shown beside the field; others are shown above it. */
  wrong?: 'password_wrong' | 'two_factor_code_wrong' | 'password_too_weak'
  failureOf: (error: unknown) => Failure
  /** Makes the call; after it the next step replaces this form. */
  prove: (value: string) => Promise<void>
  submit: { words: string; size?: 'md'; fullWidth?: boolean }
  renderField: (field: Field) => ReactNode
  /** Above the field. */
  children?: ReactNode
  /** Below the button. */
  below?: ReactNode
}

/** A step that asks for one proof: the password, or a code of the authenticator app. */
export function ProofForm({ empty, wrong, failureOf, prove, submit, renderField, children, below }: ProofFormProps) {
  const [value, setValue] = useState('')
  const [fieldError, setFieldError] = useState<string | undefined>()
  const [problem, setProblem] = useState<Failure | undefined>()
  const [working, setWorking] = useState(false)
  const send = async (form: HTMLFormElement) => {
    setProblem(undefined)
    setFieldError(value.trim() === '' ? empty : undefined)
    if (value.trim() === '') {
      focusFirstError(form)
      return
    }
    setWorking(true)
    try {
      await prove(value)
      return
    } catch (error) {
      if (error instanceof ApiError && error.code === wrong) {
        setFieldError(error.message)
        focusFirstError(form)
      } else setProblem(failureOf(error))
    }
    setWorking(false)
  }
  const { words, ...look } = submit
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void send(event.currentTarget)
      }}
      noValidate
    >
      {children}
      {problem !== undefined && <FailureNotice {...problem} />}
      {renderField({ value, error: fieldError, onChange: (event) => setValue(event.currentTarget.value) })}
      <Button type="submit" loading={working} {...look}>
        {words}
      </Button>
      {below}
    </form>
  )
}
