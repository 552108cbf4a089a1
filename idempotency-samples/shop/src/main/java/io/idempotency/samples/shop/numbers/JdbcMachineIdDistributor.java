package io.idempotency.samples.shop.numbers;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

import me.ahoo.cosid.machine.AbstractMachineIdDistributor;
import me.ahoo.cosid.machine.InMemoryMachineStateStorage;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.machine.MachineIdLostException;
import me.ahoo.cosid.machine.MachineIdOverflowException;
import me.ahoo.cosid.machine.MachineState;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Assigns worker ids from a table. An id that was used before comes with the time at
 * which it was last seen. The base class waits until the clock of this machine has passed
 * that time, so a machine whose clock is behind cannot repeat the numbers of its
 * predecessor. The clock of the database decides whether a worker is alive, because all
 * workers share it: a machine whose clock is ahead must not take the id of a live worker.
 */
final class JdbcMachineIdDistributor extends AbstractMachineIdDistributor {

	/** Milliseconds, on H2 and PostgreSQL. */
	private static final String DATABASE_NOW = "cast(extract(epoch from current_timestamp) * 1000 as bigint)";

	private static final String IS_FREE = "(instance_id is null or renewed < " + DATABASE_NOW + " - :lease)";

	private final JdbcClient jdbc;

	private final InstantSource clock;

	JdbcMachineIdDistributor(JdbcClient jdbc) {
		this(jdbc, InstantSource.system());
	}

	JdbcMachineIdDistributor(JdbcClient jdbc, InstantSource clock) {
		super(new InMemoryMachineStateStorage(), OrderNumberConfiguration.PATIENT);
		this.jdbc = jdbc;
		this.clock = clock;
	}

	@Override
	protected MachineState distributeRemote(String namespace, int machineBit, InstanceId instanceId, Duration lease) {
		int total = MachineIdDistributor.totalMachineIds(machineBit);
		// In each round that assigns no id here, another worker got the id.
		for (int round = 0; round < total; round++) {
			MachineState state = takeFree(namespace, instanceId, lease);
			if (state == null) {
				state = takeNew(namespace, instanceId, total);
			}
			if (state != null) {
				return state;
			}
		}
		throw new MachineIdOverflowException(total, instanceId);
	}

	private @Nullable MachineState takeFree(String namespace, InstanceId instanceId, Duration lease) {
		long now = this.clock.millis();
		List<Worker> free = this.jdbc.sql("""
				select machine_id, last_seen from order_worker
				where namespace = :namespace and %s
				order by machine_id
				""".formatted(IS_FREE))
			.param("namespace", namespace)
			.param("lease", lease.toMillis())
			.query(Worker.class)
			.list();
		for (Worker worker : free) {
			int taken = this.jdbc
				.sql("""
						update order_worker set instance_id = :instance, last_seen = greatest(last_seen + 1, :now), renewed = %s
						where namespace = :namespace and machine_id = :machineId and last_seen = :lastSeen and %s
						"""
					.formatted(DATABASE_NOW, IS_FREE))
				.param("instance", instanceId.getInstanceId())
				.param("now", now)
				.param("namespace", namespace)
				.param("machineId", worker.machineId())
				.param("lastSeen", worker.lastSeen())
				.param("lease", lease.toMillis())
				.update();
			if (taken == 1) {
				return MachineState.of(worker.machineId(), worker.lastSeen());
			}
		}
		return null;
	}

	private @Nullable MachineState takeNew(String namespace, InstanceId instanceId, int total) {
		int next = this.jdbc
			.sql("select coalesce(max(machine_id) + 1, 0) from order_worker where namespace = :namespace")
			.param("namespace", namespace)
			.query(Integer.class)
			.single();
		if (next >= total) {
			throw new MachineIdOverflowException(total, instanceId);
		}
		try {
			this.jdbc.sql("""
					insert into order_worker (namespace, machine_id, instance_id, last_seen, renewed)
					values (:namespace, :machineId, :instance, :now, %s)
					""".formatted(DATABASE_NOW))
				.param("namespace", namespace)
				.param("machineId", next)
				.param("instance", instanceId.getInstanceId())
				.param("now", this.clock.millis())
				.update();
			return MachineState.of(next);
		}
		catch (DuplicateKeyException ex) {
			// Another process was faster; the next round sees its row.
			return null;
		}
	}

	@Override
	protected void guardRemote(String namespace, InstanceId instanceId, MachineState state, Duration lease) {
		int renewed = this.jdbc.sql("""
				update order_worker set last_seen = greatest(last_seen, :now), renewed = %s
				where namespace = :namespace and machine_id = :machineId and instance_id = :instance
				""".formatted(DATABASE_NOW))
			.param("now", this.clock.millis())
			.param("namespace", namespace)
			.param("machineId", state.getMachineId())
			.param("instance", instanceId.getInstanceId())
			.update();
		if (renewed == 0) {
			throw new MachineIdLostException(namespace, instanceId, state);
		}
	}

	@Override
	protected void revertRemote(String namespace, InstanceId instanceId, MachineState state) {
		this.jdbc.sql("""
				update order_worker set instance_id = null, last_seen = greatest(last_seen, :now)
				where namespace = :namespace and machine_id = :machineId and instance_id = :instance
				""")
			.param("now", this.clock.millis())
			.param("namespace", namespace)
			.param("machineId", state.getMachineId())
			.param("instance", instanceId.getInstanceId())
			.update();
	}

	record Worker(int machineId, long lastSeen) {
	}

}
