package io.idempotency.test;

/**
 * Assertions of AssertJ for guarded requests.
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
	 * Starts assertions about an answer.
	 * @param actual the answer
	 * @return the assertions
	 */
	public static GuardedResponseAssert assertThat(GuardedResponse actual) {
		return new GuardedResponseAssert(actual);
	}

}
