package io.idempotency.samples.shop.numbers;

import java.time.Duration;
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
 * Hands out worker ids from a table. An id that was used before comes with the time at
 * which it was last seen, and the base class waits until the clock of this machine is
 * past it: a machine whose clock is behind cannot repeat the numbers of its predecessor.
 */
final class JdbcMachineIdDistributor extends AbstractMachineIdDistributor {

	private final JdbcClient jdbc;

	JdbcMachineIdDistributor(JdbcClient jdbc) {
		super(new InMemoryMachineStateStorage(), OrderNumberConfiguration.PATIENT);
		this.jdbc = jdbc;
	}

	@Override
	protected MachineState distributeRemote(String namespace, int machineBit, InstanceId instanceId, Duration lease) {
		int total = MachineIdDistributor.totalMachineIds(machineBit);
		// Every round that wins nothing lost to somebody who won.
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
		long now = System.currentTimeMillis();
		List<Worker> free = this.jdbc.sql("""
				select machine_id, last_seen from order_worker
				where namespace = :namespace and (instance_id is null or last_seen < :abandoned)
				order by machine_id
				""")
			.param("namespace", namespace)
			.param("abandoned", now - lease.toMillis())
			.query(Worker.class)
			.list();
		for (Worker worker : free) {
			int taken = this.jdbc.sql("""
					update order_worker set instance_id = :instance, last_seen = greatest(last_seen + 1, :now)
					where namespace = :namespace and machine_id = :machineId and last_seen = :lastSeen
					""")
				.param("instance", instanceId.getInstanceId())
				.param("now", now)
				.param("namespace", namespace)
				.param("machineId", worker.machineId())
				.param("lastSeen", worker.lastSeen())
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
					insert into order_worker (namespace, machine_id, instance_id, last_seen)
					values (:namespace, :machineId, :instance, :now)
					""")
				.param("namespace", namespace)
				.param("machineId", next)
				.param("instance", instanceId.getInstanceId())
				.param("now", System.currentTimeMillis())
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
				update order_worker set last_seen = greatest(last_seen, :now)
				where namespace = :namespace and machine_id = :machineId and instance_id = :instance
				""")
			.param("now", System.currentTimeMillis())
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
			.param("now", System.currentTimeMillis())
			.param("namespace", namespace)
			.param("machineId", state.getMachineId())
			.param("instance", instanceId.getInstanceId())
			.update();
	}

	record Worker(int machineId, long lastSeen) {
	}

}
