/** A path of no page. */
export function NoPage() {
  return (
    <main>
      <title>No such page - Muster</title>
      <h1>No such page</h1>
      <p>There is nothing at this address.</p>
    </main>
  );
}
