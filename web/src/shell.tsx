import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useSyncExternalStore } from 'react';
import { useMe } from './access/me.ts';
import { SignInForm } from './access/sign-in-form.tsx';
import { callApi, isUnknown, onAnswer, wasUpdated } from './shared/api-call.ts';
import { ConnectionStatus, StaleBanner } from './shared/live/connection-state.tsx';
import { Failure } from './shared/ui/failure.tsx';
import { Help } from './shared/ui/help.tsx';
import { shownText } from './shared/ui/shown-text.ts';

/** What stands around every page. */
export function Shell() {
  const updated = useSyncExternalStore(onAnswer, wasUpdated);
  return (
    <>
      <header>
        <span className="brand">Muster</span>
        <nav aria-label="Main">
          <Link to="/" activeOptions={{ exact: true }}>
            Fleet
          </Link>
          <Link to="/components">Components</Link>
          <Link to="/sessions">Sessions</Link>
          <Link to="/configurations">Configurations</Link>
          <Link to="/batches">Batches</Link>
          <Link to="/rollouts">Rollouts</Link>
          <Link to="/schedules">Schedules</Link>
          <Link to="/drift">Drift</Link>
          <Link to="/images">Images</Link>
          <Link to="/sources">Sources</Link>
          <Link to="/webhooks">Webhooks</Link>
          <Link to="/audit">Audit</Link>
          <Link to="/access">Access</Link>
          <Link to="/system">System</Link>
          <Link to="/operator">Operator</Link>
          <Link to="/propagation">Propagation</Link>
          <Link to="/deployments">Deployments</Link>
        </nav>
        <Who />
        <Help />
      </header>
      {updated && (
        <div role="alert" className="banner">
          Muster was updated:{' '}
          <button type="button" onClick={() => location.reload()}>
            reload
          </button>
        </div>
      )}
      <Page />
    </>
  );
}

/** The page, or what has to be done before it can be shown. A sign-in that is over is renewed above the page, which keeps its input. */
function Page() {
  const me = useMe();
  const isSignIn = useLocation({ select: ({ pathname }) => pathname.endsWith('/sign-in') });
  if (isSignIn || me.data) {
    return (
      <>
        {!isSignIn && <StaleBanner />}
        <Suspense fallback={<main aria-busy="true" />}>
          <Outlet />
        </Suspense>
        {!isSignIn && isUnknown(me.error) && <SignInAgain />}
      </>
    );
  }
  if (me.isPending) return <main aria-busy="true" />;
  return (
    <main>
      <title>Sign in - Muster</title>
      <h1>Sign in</h1>
      {isUnknown(me.error) ? <SignInForm /> : <Failure error={me.error} retry={() => void me.refetch()} />}
    </main>
  );
}

function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Sign in">
      <p>Your sign-in is over.</p>
      <SignInForm />
    </dialog>
  );
}

/** Who is signed in, with the way out. */
function Who() {
  const client = useQueryClient();
  const { data: me } = useMe();
  if (!me) return null;
  const signOut = async () => {
    await callApi('/sign-out', { method: 'POST' });
    client.clear();
    await client.resetQueries();
    location.assign(location.pathname);
  };
  return (
    <span className="who">
      <ConnectionStatus />
      {me.name !== null && `${shownText(me.name)} (${me.role})`}
      {me.kind === 'sign-in' && (
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      )}
    </span>
  );
}
