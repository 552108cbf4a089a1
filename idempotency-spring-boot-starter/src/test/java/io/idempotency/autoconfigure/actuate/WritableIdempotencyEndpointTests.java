package io.idempotency.autoconfigure.actuate;

import java.time.Duration;
import java.util.Optional;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.OperationCoverage;
import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says about removals; that records are removed is tested over HTTP. */
@ExtendWith(OutputCaptureExtension.class)
class WritableIdempotencyEndpointTests {

	private static final String ID = "0".repeat(64);

	private final Records records = new Records();

	private final WritableIdempotencyEndpoint endpoint = new WritableIdempotencyEndpoint(this.records,
			new StaticListableBeanFactory().getBeanProvider(OperationCatalog.class),
			new StaticListableBeanFactory().getBeanProvider(OperationCoverage.class));

	@Test
	void removalWithoutAPrincipalIsLogged(CapturedOutput output) {
		this.endpoint.evict(SecurityContext.NONE, ID, "pay", null, null);
		assertThat(output).contains("An unidentified user evicted the idempotency record " + ID);
	}

	@Test
	void logsNoControlCharactersOfTheRequest(CapturedOutput output) {
		this.endpoint.evict(SecurityContext.NONE, ID, "a\n\u0085\u2028\u2029\u202E\u2066b", null, null);
		assertThat(output).contains("of 'a______b'");
	}

	@Test
	void removalOfNothingIsAWarning(CapturedOutput output) {
		this.records.evicted = 0;
		this.endpoint.evict(SecurityContext.NONE, ID, "pay", null, null);
		assertThat(output)
			.containsPattern("WARN.*An unidentified user tried to evict the idempotency record " + ID
					+ " of 'pay', but nothing was removed: no record exists")
			.doesNotContain("An unidentified user evicted");
	}

	/** It may have removed some of the records before. */
	@Test
	void removalThatFailsIsLogged(CapturedOutput output) {
		this.records.down = true;
		assertRejected(this.endpoint.evict(SecurityContext.NONE, ID, "pay", true, null), 503);
		assertRejected(this.endpoint.erase(SecurityContext.NONE, "alice", null, null, null, null, null, null), 503);
		assertThat(output)
			.contains("An unidentified user tried to evict the idempotency record " + ID
					+ " of 'pay' with force, but the store failed")
			.contains(
					"An unidentified user tried to erase the idempotency records of the caller c0ffee, but the store failed")
			.doesNotContain("alice");
	}

	@Test
	void requestThatIsWrongIsNoRemoval(CapturedOutput output) {
		assertRejected(this.endpoint.erase(SecurityContext.NONE, null, null, null, null, null, null, null), 400);
		assertThat(output).doesNotContain("An unidentified user");
	}

	private static void assertRejected(Object answer, int status) {
		assertThat(answer).isInstanceOfSatisfying(WebEndpointResponse.class,
				(response) -> assertThat(response.getStatus()).isEqualTo(status));
	}

	/** Removes one record whenever it is asked to, or fails. */
	private static final class Records implements IdempotencyAdmin {

		private boolean down;

		private int evicted = 1;

		private IdempotencyEviction removal() {
			if (this.down) {
				throw IdempotencyStoreUnavailableException.notExecuted("pay", Duration.ofSeconds(1), null);
			}
			return new IdempotencyEviction(this.evicted, 0);
		}

		@Override
		public IdempotencyEviction evict(String operation, String id, boolean force) {
			return removal();
		}

		@Override
		public IdempotencyEviction erase(IdempotencyCaller caller, boolean force) {
			return removal();
		}

		@Override
		public String callerId(IdempotencyCaller caller) {
			return "c0ffee";
		}

		@Override
		public IdempotencyAdmin store(String name) {
			return this;
		}

		@Override
		public Optional<IdempotencyRecord> find(String operation, IdempotencyCaller caller, Object... key) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Optional<IdempotencyRecord> findById(String operation, String id) {
			throw new UnsupportedOperationException();
		}

		@Override
		public IdempotencyRecordPage list(String operation, @Nullable String cursor, int limit) {
			throw new UnsupportedOperationException();
		}

	}

}
