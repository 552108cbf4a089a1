package io.idempotency.it.message;

import java.util.List;
import java.util.Objects;

import org.springframework.data.redis.core.StringRedisTemplate;

/** Keeps the lines in a list of Redis. */
final class RedisEffectLog implements EffectLog {

	private static final String KEY = "effects";

	private final StringRedisTemplate redis;

	RedisEffectLog(StringRedisTemplate redis) {
		this.redis = redis;
	}

	@Override
	public void add(String line) {
		this.redis.opsForList().rightPush(KEY, line);
	}

	@Override
	public List<String> lines() {
		return Objects.requireNonNull(this.redis.opsForList().range(KEY, 0, -1));
	}

}
