package io.idempotency.it.jdbc;

import java.util.UUID;

import io.idempotency.IdempotencyResultUnavailableException;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Work whose result is too large for the database commits without it, and is not done
 * again. Only MariaDB and MySQL have such a limit that a result can reach.
 */
@EachDatabase(value = {}, and = { Database.MARIADB, Database.MARIADB_WITH_PREPARED_STATEMENTS,
		Database.MARIADB_THROUGH_THE_DRIVER_OF_MYSQL })
class JoinedLargeResultTests {

	/** What {@code max_allowed_packet} of MariaDB is by default. */
	private static final int LARGEST = 1 << 24;

	private final String ref = UUID.randomUUID().toString();

	private final JoinApplication.Orders orders;

	JoinedLargeResultTests(TestDatabase database) {
		ApplicationContext application = database.share("application",
				() -> JoinScenarios.start(database.sharedPool("pool", 4)));
		this.orders = application.getBean(JoinApplication.Orders.class);
	}

	@Test
	void workWhoseResultIsNotTakenIsDoneOnce() throws Exception {
		JoinApplication.Orders work = AopTestUtils.getTargetObject(this.orders);
		int before = work.runs.get();
		assertThat(this.orders.placeLarge(this.ref, LARGEST)).hasSize(LARGEST);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.orders.placeLarge(this.ref, LARGEST));
		assertThat(work.runs).hasValue(before + 1);
	}

}
