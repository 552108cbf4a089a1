package io.idempotency.it.http;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** With a near cache, which holds what Redis holds. */
@OnRedis
@TestPropertySource(properties = "idempotency.near-cache.enabled=true")
class EncryptedAnswersOnRedisTests extends EncryptedAnswersTests {

	@Autowired
	RedisConnectionFactory connections;

	@Test
	void answerThatIsNearIsReplayedWithoutTheStore() {
		Answer first = this.client.post("/answers/text", this.key);
		assertThat(this.client.post("/answers/text", this.key).body()).isEqualTo(first.body());
		int runs = this.runs.of("/answers/text");
		ask((redis) -> redis.keyCommands()
			.del(ids().stream().map(EncryptedAnswersOnRedisTests::bytes).toArray(byte[][]::new)));
		assertThat(ids()).isEmpty();
		Answer near = this.client.post("/answers/text", this.key);
		assertThat(near.body()).isEqualTo(first.body());
		assertThat(near.replayed()).isTrue();
		assertThat(this.runs.of("/answers/text")).isEqualTo(runs);
	}

	@Override
	Set<String> ids() {
		return ask((redis) -> redis.keyCommands().keys(bytes("*"))).stream()
			.map((name) -> new String(name, StandardCharsets.UTF_8))
			.collect(Collectors.toSet());
	}

	@Override
	String bytesOf(String id) {
		return new String(ask((redis) -> redis.stringCommands().get(bytes(id))), StandardCharsets.ISO_8859_1);
	}

	@Override
	void copyResult(String from, String to) {
		ask((redis) -> redis.stringCommands().set(bytes(to), redis.stringCommands().get(bytes(from))));
	}

	private <T> T ask(Function<RedisConnection, T> question) {
		try (RedisConnection redis = this.connections.getConnection()) {
			return question.apply(redis);
		}
	}

	private static byte[] bytes(String name) {
		return name.getBytes(StandardCharsets.UTF_8);
	}

}
