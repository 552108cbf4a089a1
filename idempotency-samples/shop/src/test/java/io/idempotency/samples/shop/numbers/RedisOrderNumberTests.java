package io.idempotency.samples.shop.numbers;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.test.ConcurrentDuplicates;
import me.ahoo.cosid.machine.InMemoryMachineStateStorage;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.spring.redis.SpringRedisMachineIdDistributor;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The whole shop, whose worker id comes from a real Redis.
 */
@SpringBootTest
@ActiveProfiles("ids-redis")
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@Requires(Backend.REDIS)
class RedisOrderNumberTests {

	@Autowired
	private StringRedisTemplate redis;

	@Test
	void processesThatStartTogetherGetDifferentWorkers(@Autowired WorkerLease shop, @Autowired OrderNumbers numbers)
			throws Exception {
		List<Integer> others = ConcurrentDuplicates.of(8).run((index) -> distribute()).valuesOrFail();
		assertThat(others).doesNotHaveDuplicates().hasSize(8).doesNotContain(shop.machineId());
		assertThat(numbers.next()).matches("[0-9A-Z]{13}").isLessThan(numbers.next());
	}

	private int distribute() {
		MachineIdDistributor other = new SpringRedisMachineIdDistributor(this.redis, new InMemoryMachineStateStorage(),
				OrderNumberConfiguration.PATIENT);
		return other
			.distribute(OrderNumberConfiguration.NAME, 10, InstanceId.of(UUID.randomUUID().toString(), false),
					Duration.ofMinutes(5))
			.getMachineId();
	}

}
