package io.idempotency.store.jdbc;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who needs two connections at a time hears of it before his pool is used up.
 */
class SecondConnectionWarningTests {

	private final H2Database database = H2Database.withTable();

	private final JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());

	private final Logger logger = (Logger) LoggerFactory.getLogger(SecondConnectionWarning.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void stop() {
		this.logger.detachAppender(this.log);
	}

	@Test
	void claimInsideATransactionOfTheSamePoolIsToldOnceForEachOperation() {
		claimInside(this.database, this.store, "pay", "1");
		claimInside(this.database, this.store, "pay", "2");
		claimInside(this.database, this.store, "refund", "1");
		assertThat(messages()).hasSize(2).allSatisfy((message) -> assertThat(message).contains("TransactionMode.JOIN"));
		assertThat(messages().get(0)).startsWith("'pay'");
		assertThat(messages().get(1)).startsWith("'refund'");
	}

	@Test
	void claimThatNeedsOneConnectionIsNoNews() {
		claim(this.store, "pay", "1");
		claimInside(this.database, this.store.joining().orElseThrow(), "pay", "2");
		claimInside(H2Database.withTable(), this.store, "pay", "3");
		assertThat(messages()).isEmpty();
	}

	private List<String> messages() {
		return this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	private static void claimInside(H2Database database, IdempotencyStore store, String operation, String key) {
		new TransactionTemplate(new DataSourceTransactionManager(database.dataSource()))
			.executeWithoutResult((status) -> claim(store, operation, key));
	}

	private static void claim(IdempotencyStore store, String operation, String key) {
		store.claim(ClaimRequest.of(IdempotencyKey.of(operation, Caller.GLOBAL, key), Duration.ofSeconds(30),
				Duration.ofHours(1)));
	}

}
