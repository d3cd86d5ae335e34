import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { SignInMethods } from '../../../domain/access/schema.ts';
import { callApi } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { useMe } from './me.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The page at `/ui/sign-in`. */
export function SignInPage() {
  const navigate = useNavigate();
  const me = useMe();
  const methods = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => callApi<SignInMethods>('/sign-in', { signal }),
  });
  return (
    <main aria-busy={methods.isPending || undefined}>
      <title>Sign in - Muster</title>
      <h1>Sign in</h1>
      {methods.isError && <Failure error={methods.error} retry={() => void methods.refetch()} />}
      {methods.data?.mode === 'none' && (
        <p>
          A sign-in is not needed here. <Link to="/">Fleet</Link>
        </p>
      )}
      {methods.data?.mode === 'token' &&
        (me.data ? (
          <p>
            You are signed in as {me.data.name}. <Link to="/">Fleet</Link>
          </p>
        ) : (
          <SignInForm done={() => void navigate({ to: '/' })} />
        ))}
    </main>
  );
}
