package io.idempotency.test;

/**
 * AssertJ assertions for guarded requests.
 *
 * <pre class="code">
 * assertThat(second).isReplayOf(first);
 * assertThat(other).hasProblem("in-progress");
 * </pre>
 *
 * @since 0.1.0
 */
public final class IdempotencyAssertions {

	private IdempotencyAssertions() {
	}

	/**
	 * Creates assertions for a response.
	 * @param actual the response
	 * @return the assertions
	 */
	public static GuardedResponseAssert assertThat(GuardedResponse actual) {
		return new GuardedResponseAssert(actual);
	}

}
