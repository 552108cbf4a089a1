package io.idempotency.samples.shop.numbers;

import java.time.Duration;

import me.ahoo.cosid.IdGenerator;
import me.ahoo.cosid.converter.Radix36IdConverter;
import me.ahoo.cosid.machine.ClockBackwardsSynchronizer;
import me.ahoo.cosid.machine.DefaultClockBackwardsSynchronizer;
import me.ahoo.cosid.machine.InMemoryMachineStateStorage;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.segment.IdSegment;
import me.ahoo.cosid.segment.SegmentChainId;
import me.ahoo.cosid.segment.concurrent.PrefetchWorkerExecutorService;
import me.ahoo.cosid.snowflake.ClockSyncSnowflakeId;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import me.ahoo.cosid.spring.redis.SpringRedisMachineIdDistributor;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The source of order numbers by profile. By default: Snowflake numbers of a worker with
 * a configured id, which needs no server.
 */
@Configuration(proxyBeanMethods = false)
class OrderNumberConfiguration {

	static final String NAME = "shop.order";

	/**
	 * Waits for a clock that is behind by up to two seconds, and fails if it is further
	 * behind.
	 */
	static final ClockBackwardsSynchronizer PATIENT = new DefaultClockBackwardsSynchronizer(1, 2000);

	/**
	 * Snowflake: time, worker, sequence. When the clock moves back, the generator waits
	 * until the clock has caught up. If that takes longer than two seconds, it throws a
	 * {@code ClockTooManyBackwardsException}. It never repeats a number.
	 */
	static IdGenerator snowflake(int machineId) {
		return new ClockSyncSnowflakeId(new MillisecondSnowflakeId(machineId), PATIENT);
	}

	/**
	 * The wide one is 13 characters, and sorts as the number does.
	 */
	static OrderNumbers inBase36(IdGenerator generator) {
		return () -> Radix36IdConverter.PAD_START.asString(generator.generate());
	}

	@Configuration(proxyBeanMethods = false)
	@Profile("!ids-jdbc & !ids-redis & !ids-segment")
	static class ConfiguredWorker {

		@Bean
		OrderNumbers orderNumbers(@Value("${shop.order-numbers.machine-id}") int machineId) {
			return inBase36(snowflake(machineId));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Profile("ids-jdbc | ids-redis")
	static class LeasedWorker {

		@Bean
		@Profile("ids-jdbc")
		MachineIdDistributor workersInTheDatabase(JdbcClient jdbc) {
			return new JdbcMachineIdDistributor(jdbc);
		}

		@Bean
		@Profile("ids-redis")
		MachineIdDistributor workersInRedis(StringRedisTemplate redis) {
			return new SpringRedisMachineIdDistributor(redis, new InMemoryMachineStateStorage(), PATIENT);
		}

		@Bean
		WorkerLease workerLease(MachineIdDistributor workers) {
			return new WorkerLease(workers, NAME);
		}

		@Bean
		OrderNumbers orderNumbers(WorkerLease lease) {
			return inBase36(snowflake(lease.machineId()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Profile("ids-segment")
	static class Segments {

		private static final long STEP = 100;

		private static final int SEGMENTS_AHEAD = 2;

		@Bean(destroyMethod = "shutdown")
		PrefetchWorkerExecutorService segmentPrefetch() {
			return new PrefetchWorkerExecutorService(Duration.ofSeconds(1), 1, false);
		}

		@Bean
		OrderNumbers orderNumbers(JdbcClient jdbc, PlatformTransactionManager transactionManager,
				PrefetchWorkerExecutorService prefetch) {
			JdbcSegmentDistributor distributor = new JdbcSegmentDistributor(jdbc, transactionManager, NAME, STEP);
			return inBase36(new SegmentChainId(IdSegment.TIME_TO_LIVE_FOREVER, SEGMENTS_AHEAD, distributor, prefetch));
		}

	}

}
