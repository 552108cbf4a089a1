package io.idempotency.it.http;

import io.idempotency.it.scenarios.EncryptedAnswersScenarios;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scenarios whose answer depends on what the store keeps, with records in Redis.
 */
class OnRedisTests {

	@Nested
	@OnRedis
	@TestPropertySource(properties = EncryptedAnswersScenarios.PROPERTIES)
	class EncryptedAnswers extends KeptAnswersOnTomcatTests implements EncryptedAnswersScenarios.InRedis {

		@Autowired
		private RedisServer server;

		@Override
		public RedisServer server() {
			return this.server;
		}

	}

	@Nested
	@OnRedis
	class Fingerprints extends FingerprintsOnTomcatTests {

	}

	@Nested
	@OnRedis
	class Keys extends KeysOnTomcatTests {

	}

	@Nested
	@OnRedis
	class KeptAnswers extends KeptAnswersOnTomcatTests {

		@Test
		void recordsAreInRedis(@Autowired IdempotencyStore store) {
			assertThat(store).isInstanceOf(RedisIdempotencyStore.class);
		}

	}

	@Nested
	@OnRedis
	class Released extends ReleasedOnTomcatTests {

	}

	@Nested
	@OnRedis
	class Storm extends StormOnTomcatTests {

	}

	@Nested
	@OnRedis
	class Tombstones extends TombstonesOnTomcatTests {

	}

}
