package io.idempotency.test;

import java.util.List;
import java.util.stream.Collectors;

import io.idempotency.OperationCoverage;
import io.idempotency.OperationCoverage.Entry;
import io.idempotency.OperationCoverage.Status;

import org.springframework.context.ApplicationContext;

/**
 * Asserts that every operation of an application is guarded, or marked as not idempotent
 * with a reason:
 *
 * <pre class="code">
 * &#064;Test
 * void everyOperationIsDecided(ApplicationContext context) {
 *     IdempotencyCoverage.of(context).assertDecided();
 * }
 * </pre>
 *
 * @since 0.1.0
 */
public final class IdempotencyCoverage {

	private final List<Entry> entries;

	private IdempotencyCoverage(List<Entry> entries) {
		this.entries = entries;
	}

	/**
	 * Reads the operations of an application.
	 * @param context the context of the application, with the starter
	 * @return the coverage
	 * @throws org.springframework.beans.factory.NoSuchBeanDefinitionException if the
	 * context has no {@link OperationCoverage}, because the starter is missing or
	 * disabled
	 */
	public static IdempotencyCoverage of(ApplicationContext context) {
		return new IdempotencyCoverage(context.getBean(OperationCoverage.class).entries());
	}

	/**
	 * Returns the operations.
	 * @return the operations in the order of their names
	 */
	public List<Entry> entries() {
		return this.entries;
	}

	/**
	 * Asserts that no operation is undecided.
	 * @throws AssertionError if an operation is undecided; the message lists them
	 */
	public void assertDecided() {
		String undecided = this.entries.stream()
			.filter((entry) -> entry.status() == Status.UNDECIDED)
			.map((entry) -> "  - " + entry.operation())
			.collect(Collectors.joining("\n"));
		if (!undecided.isEmpty()) {
			throw new AssertionError("Operations that change something are neither guarded nor excluded:\n" + undecided
					+ "\nAdd @Idempotent, or @NotIdempotent with the reason. Add the filter of IdempotentRoutes, "
					+ "or its notIdempotent filter, to a functional route.");
		}
	}

}
