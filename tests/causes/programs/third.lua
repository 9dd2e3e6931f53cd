-- SPDX-License-Identifier: Apache-2.0
-- A job of third.py: computes for that many seconds.
local stop, x = os.time() + tonumber(arg[1]), 1
while os.time() < stop do
	for _ = 1, 100000 do x = math.sin(x) + 1 end
end
