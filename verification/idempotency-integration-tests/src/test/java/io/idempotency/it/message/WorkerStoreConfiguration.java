package io.idempotency.it.message;

import javax.sql.DataSource;

import io.idempotency.it.servers.SqlDatabase;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** What a {@link WorkerStore} is in the JVM of a consumer. */
@Configuration(proxyBeanMethods = false)
class WorkerStoreConfiguration {

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	DataSource dataSource(@Value("${test.database.url}") String url, @Value("${test.database.user}") String user) {
		return new SqlDatabase(url, 0, user).pool(4);
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	EffectLog effectsInTheDatabase(DataSource dataSource) {
		return new JdbcEffectLog(new JdbcTemplate(dataSource));
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "redis")
	EffectLog effectsInRedis(StringRedisTemplate redis) {
		return new RedisEffectLog(redis);
	}

}
